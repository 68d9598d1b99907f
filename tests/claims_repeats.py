"""For each number that a text repeats, the cell that it repeats; collected by reading the documents."""

# By claim: each value of the text, the table that prints it first, and the keys of its cell in that table.
REPEATS = {
    "c001_restated": """
        aggregate_ministral3_3b          reported_plasticity model=ministral3-3b metric=ap_overall
        aggregate_ministral3_3b_lbp      reported_plasticity model=ministral3-3b metric=lbp
        aggregate_qwen3_14b              reported_plasticity model=qwen3-14b metric=ap_overall
        aggregate_qwen3_14b_lbp          reported_plasticity model=qwen3-14b metric=lbp
        aggregate_llama32_3b_last_20     reported_plasticity model=llama3.2-3b metric=ap_last_20
        aggregate_llama32_3b_lbp         reported_plasticity model=llama3.2-3b metric=lbp
        longbench_qwen3_14b_drop         reported_plasticity model=qwen3-14b metric=ap_drop
        longbench_qwen3_4b_drop          reported_plasticity model=qwen3-4b metric=ap_drop
        longbench_qwen3_14b_lbp          reported_plasticity model=qwen3-14b metric=lbp
        longbench_qwen3_4b_lbp           reported_plasticity model=qwen3-4b metric=lbp
        ruler_llama31_8b_drop            reported_plasticity model=llama3.1-8b metric=ap_drop
        ruler_llama32_3b_drop            reported_plasticity model=llama3.2-3b metric=ap_drop
        ruler_mistral_drop               reported_plasticity model=mistral-v0.2-7b metric=ap_drop
        longbench_ministral3_14b_plasticity_first reported_lbp_lengths model=ministral3-14b length=8k metric=plasticity
        longbench_ministral3_14b_plasticity_last reported_lbp_lengths model=ministral3-14b length=128k metric=plasticity
        longbench_ministral3_14b_lbp_first        reported_lbp_lengths model=ministral3-14b length=8k metric=lbp
        longbench_ministral3_14b_lbp_last         reported_lbp_lengths model=ministral3-14b length=128k metric=lbp
        ruler_llama31_8b_from            reported_ruler_plasticity model=llama3.1-8b length=4k metric=ruler
        ruler_llama31_8b_to              reported_ruler_plasticity model=llama3.1-8b length=128k metric=ruler
        ruler_llama31_8b_plasticity_from reported_ruler_plasticity model=llama3.1-8b length=4k metric=plasticity
        ruler_llama31_8b_plasticity_to   reported_ruler_plasticity model=llama3.1-8b length=128k metric=plasticity
        ruler_mistral_from               reported_ruler_plasticity model=mistral-v0.2-7b length=4k metric=ruler
        ruler_mistral_to                 reported_ruler_plasticity model=mistral-v0.2-7b length=128k metric=ruler
        ruler_mistral_64k                reported_ruler_plasticity model=mistral-v0.2-7b length=64k metric=ruler
        ruler_mistral_128k               reported_ruler_plasticity model=mistral-v0.2-7b length=128k metric=ruler""",
    "c002_windows_again": """
        t8_mistral_window                stated_002 statement=h7_window
        ruler_mistral_window             stated_002 statement=h7_window
        ruler_mistral_context            stated_002 statement=h7_failing_length_last
        generations_heterogeneity_length stated_002 statement=h7_failing_length_last""",
    "c002_restated_bins": """
        t2_llama32_3b_first reported_length_bins model=llama3.2-3b bin=0-8K
        t2_llama32_3b_last  reported_length_bins model=llama3.2-3b bin=64K-128K
        t2_llama32_3b_drop  reported_length_bins model=llama3.2-3b bin=total""",
    "c002_restated_observations": """
        aggregate_ministral3_3b_plasticity reported_mechanistic model=ministral3-3b metric=ap_overall
        aggregate_ministral3_3b_lbp        reported_mechanistic model=ministral3-3b metric=lbp
        last_20_llama32_3b                 reported_mechanistic model=llama3.2-3b metric=ap_last_20
        drop_ministral3_14b                reported_mechanistic model=ministral3-14b metric=ap_drop
        drop_ministral3_8b                 reported_mechanistic model=ministral3-8b metric=ap_drop
        drop_ministral3_3b                 reported_mechanistic model=ministral3-3b metric=ap_drop
        drop_qwen3_14b                     reported_mechanistic model=qwen3-14b metric=ap_drop
        drop_qwen3_8b                      reported_mechanistic model=qwen3-8b metric=ap_drop
        drop_qwen3_4b                      reported_mechanistic model=qwen3-4b metric=ap_drop
        drop_llama32_3b                    reported_mechanistic model=llama3.2-3b metric=ap_drop
        drop_ministral3_3b_exception       reported_mechanistic model=ministral3-3b metric=ap_drop
        drop_ministral3_3b_exception_lbp   reported_mechanistic model=ministral3-3b metric=lbp""",
    "c002_restated_hypotheses": """
        h2_llama32_3b              reported_plasticity model=llama3.2-3b metric=ap_last_20
        h2_llama32_3b_lbp          reported_plasticity model=llama3.2-3b metric=lbp
        h5_drop                    reported_plasticity model=ministral3-3b metric=ap_drop
        h5_lbp                     reported_plasticity model=ministral3-3b metric=lbp
        h7_mistral_overall         reported_plasticity model=mistral-v0.2-7b metric=ap_overall
        h7_mistral_drop            reported_plasticity model=mistral-v0.2-7b metric=ap_drop
        h3_ministral3_14b_lbp_from reported_lbp_lengths model=ministral3-14b length=8k metric=lbp
        h3_ministral3_14b_lbp_to   reported_lbp_lengths model=ministral3-14b length=256k metric=lbp""",
    "c002_restated_mistral": """
        ruler_mistral_drop    reported_plasticity model=mistral-v0.2-7b metric=ap_drop
        ruler_mistral_overall reported_plasticity model=mistral-v0.2-7b metric=ap_overall
        ruler_mistral_64k     reported_ruler_plasticity model=mistral-v0.2-7b length=64k metric=ruler
        ruler_mistral_128k    reported_ruler_plasticity model=mistral-v0.2-7b length=128k metric=ruler""",
    "c002_restated_llama": """
        ruler_llama_from               reported_ruler_declines model=llama3.1-8b length=4k metric=ruler
        ruler_llama_to                 reported_ruler_declines model=llama3.1-8b length=128k metric=ruler
        ruler_llama_plasticity_from    reported_ruler_declines model=llama3.1-8b length=4k metric=plasticity
        ruler_llama_plasticity_to      reported_ruler_declines model=llama3.1-8b length=128k metric=plasticity
        ruler_llama_decline            reported_ruler_declines model=llama3.1-8b length=128k metric=ruler_change
        ruler_llama_plasticity_decline reported_ruler_declines model=llama3.1-8b length=128k metric=plasticity_change
        ruler_llama_dip                reported_ruler_deciles model=llama3.1-8b decile=4
        ruler_llama_recovery           reported_ruler_deciles model=llama3.1-8b decile=7
        ruler_llama_collapse           reported_ruler_deciles model=llama3.1-8b decile=9""",
    "c002_restated_declines": """
        declines_plasticity reported_ruler_declines model=llama3.1-8b length=128k metric=plasticity_change
        declines_ruler      reported_ruler_declines model=llama3.1-8b length=128k metric=ruler_change""",
    "c002_restated_generations": """
        generations_llama31_8b_drop    reported_llama_generations model=llama3.1-8b metric=ap_drop
        generations_llama31_8b_last_20 reported_llama_generations model=llama3.1-8b metric=ap_last_20
        generations_llama32_3b_drop    reported_llama_generations model=llama3.2-3b metric=ap_drop
        generations_llama32_3b_last_20 reported_llama_generations model=llama3.2-3b metric=ap_last_20""",
    "c002_restated_predecessor": """
        predecessor_mistral_bias      reported_mistral_predecessor model=mistral-v0.2-7b metric=bias_strength
        predecessor_ministral_bias    reported_mistral_predecessor model=ministral3-3b metric=bias_strength
        predecessor_mistral_plane_var reported_mistral_predecessor model=mistral-v0.2-7b metric=plane_var""",
    "c002_training_repeated": """
        phase1_bias_from     reported_training checkpoint=stage1-step-40000 metric=bias_strength
        phase1_bias_to       reported_training checkpoint=stage3-step-4720000 metric=bias_strength
        phase1_overall_from  reported_training checkpoint=stage1-step-40000 metric=ap_overall
        phase1_overall_to    reported_training checkpoint=stage3-step-4720000 metric=ap_overall
        phase2_bias_from     reported_training checkpoint=stage3-step-4720000 metric=bias_strength
        phase2_bias_to       reported_training checkpoint=lc-4k-to-32k-step-4000 metric=bias_strength
        phase2_first_20_from reported_training checkpoint=stage3-step-4720000 metric=ap_first_20
        phase2_first_20_to   reported_training checkpoint=lc-4k-to-32k-step-4000 metric=ap_first_20
        phase2_last_20       reported_training checkpoint=lc-4k-to-32k-step-4000 metric=ap_last_20
        phase2_drop_from     reported_training checkpoint=stage3-step-4720000 metric=ap_drop
        phase2_drop_to       reported_training checkpoint=lc-4k-to-32k-step-4000 metric=ap_drop
        phase3_bias_from     reported_training checkpoint=lc-4k-to-32k-step-4000 metric=bias_strength
        phase3_bias_to       reported_training checkpoint=lc-32k-to-64k-step-20000 metric=bias_strength
        cross_smollm3_drop   reported_training checkpoint=lc-32k-to-64k-step-20000 metric=ap_drop
        h4_first_20_from     reported_training checkpoint=stage3-step-4720000 metric=ap_first_20
        h4_first_20_to       reported_training checkpoint=lc-32k-to-64k-step-20000 metric=ap_first_20
        h4_last_20           reported_training checkpoint=lc-32k-to-64k-step-20000 metric=ap_last_20
        h4_drop_from         reported_training checkpoint=stage3-step-4720000 metric=ap_drop
        h4_drop_to           reported_training checkpoint=lc-32k-to-64k-step-20000 metric=ap_drop
        h6_pretraining_drop  reported_training checkpoint=stage3-step-4720000 metric=ap_drop
        h6_extended_drop     reported_training checkpoint=lc-32k-to-64k-step-20000 metric=ap_drop
        h6_excess_minuend    reported_training checkpoint=lc-32k-to-64k-step-20000 metric=ap_drop
        h6_excess_subtrahend reported_training checkpoint=stage3-step-4720000 metric=ap_drop""",
    "c004_abstract_repeats": """
        paradox_layer1_ratio            drope_layer1_massive layers=1 metric=change_from_rope
        paradox_reliance_ratio          drope_disruption_statistics statistic=reliance_ratio
        paradox_contextual_fall         drope_knowledge_categories positional=DroPE metric=contextual_average
        paradox_passkey_rope_baseline   drope_knowledge positional=RoPE task=passkey metric=baseline
        paradox_passkey_rope_disrupted  drope_knowledge positional=RoPE task=passkey metric=disrupted
        paradox_passkey_drope_baseline  drope_knowledge positional=DroPE task=passkey metric=baseline
        paradox_passkey_drope_disrupted drope_knowledge positional=DroPE task=passkey metric=disrupted
        deeper_sink_heads               drope_attention positional=DroPE metric=sink_heads
        deeper_rope_attention_share     drope_layer1_content positional=RoPE metric=attention_contribution
        deeper_rope_mlp_share           drope_layer1_content positional=RoPE metric=mlp_contribution
        deeper_drope_attention_share    drope_layer1_content positional=DroPE metric=attention_contribution
        deeper_drope_mlp_share          drope_layer1_content positional=DroPE metric=mlp_contribution
        deeper_rope_mlp_ablation        drope_layer1_perplexity positional=RoPE condition=layer1_mlp metric=ppl_ratio
        deeper_rope_attention_ablation  drope_layer1_perplexity positional=RoPE condition=layer1_attn metric=ppl_ratio
        deeper_rope_query_norm          drope_layer1_norms positional=RoPE metric=query_norm
        deeper_rope_key_norm            drope_layer1_norms positional=RoPE metric=key_norm
        deeper_drope_query_norm         drope_layer1_norms positional=DroPE metric=query_norm
        deeper_drope_key_norm           drope_layer1_norms positional=DroPE metric=key_norm""",
    "c004_ans_restated": """
        s11_6_short_exact      drope_errors positional=DroPE context=2048 category=exact metric=share
        s11_6_short_truncation drope_errors positional=DroPE context=2048 category=off_by_one_length metric=share""",
    "c004_bal_restated": """
        s10_4_rope_layer0  drope_crosslayer layers=0 positional=RoPE metric=attention_contribution
        s10_4_drope_layer0 drope_crosslayer layers=0 positional=DroPE metric=attention_contribution
        s10_4_rope_layer1  drope_crosslayer layers=1 positional=RoPE metric=attention_contribution
        s10_4_drope_layer1 drope_crosslayer layers=1 positional=DroPE metric=attention_contribution
        s10_5_rope_layer0  drope_crosslayer layers=0 positional=RoPE metric=attention_contribution
        s10_5_drope_layer0 drope_crosslayer layers=0 positional=DroPE metric=attention_contribution""",
    "c004_con_restated": """
        s9_1_rope_mlp                    drope_layer1_perplexity positional=RoPE condition=layer1_mlp metric=ppl_ratio
        s9_1_rope_attention              drope_layer1_perplexity positional=RoPE condition=layer1_attn metric=ppl_ratio
        s9_4_rope_attention_share        drope_layer1_content positional=RoPE metric=attention_contribution
        s9_4_rope_mlp_share              drope_layer1_content positional=RoPE metric=mlp_contribution
        s9_4_drope_attention_share       drope_layer1_content positional=DroPE metric=attention_contribution
        s9_4_drope_mlp_share             drope_layer1_content positional=DroPE metric=mlp_contribution
        s9_4_rope_attention_ablation     drope_layer1_perplexity positional=RoPE condition=layer1_attn metric=ppl_ratio
        s9_4_drope_attention_ablation    drope_layer1_perplexity positional=DroPE condition=layer1_attn metric=ppl_ratio
        s9_4_rope_attention_share_again  drope_layer1_content positional=RoPE metric=attention_contribution
        s9_4_drope_attention_share_again drope_layer1_content positional=DroPE metric=attention_contribution
        s9_5_query_norm_ratio            drope_layer1_norms positional=DroPE metric=query_norm_ratio_to_rope
        s9_5_key_norm_ratio              drope_layer1_norms positional=DroPE metric=key_norm_ratio_to_rope
        s9_5_output_norm_ratio drope_layer1_content positional=DroPE metric=attention_output_norm_ratio_to_rope
        s9_6_rope_attention_share        drope_layer1_content positional=RoPE metric=attention_contribution
        s9_6_drope_attention_share       drope_layer1_content positional=DroPE metric=attention_contribution
        s10_1_drope_attention_share      drope_layer1_content positional=DroPE metric=attention_contribution
        s10_1_rope_attention_share       drope_layer1_content positional=RoPE metric=attention_contribution
        fig_e_rope_attention_share       drope_layer1_content positional=RoPE metric=attention_contribution
        fig_e_drope_attention_share      drope_layer1_content positional=DroPE metric=attention_contribution""",
    "c004_ctx_restated": """
        s11_3_rope_within drope_context positional=RoPE context=4096
        s11_3_rope_beyond drope_context positional=RoPE context=8192
        s11_4_drope_copy  drope_context positional=DroPE context=8192""",
    "c004_disruption_captions": """
        fig_4_reliance_ratio drope_disruption_statistics statistic=reliance_ratio
        fig_c_reliance_ratio drope_disruption_statistics statistic=reliance_ratio
        fig_c_legend_rope    drope_disruption positional=RoPE metric=massive_increase
        fig_c_legend_drope   drope_disruption positional=DroPE metric=massive_increase""",
    "c004_knowledge_repeats": """
        s4_4_rope_contextual           drope_knowledge_categories positional=RoPE metric=contextual_average
        s4_4_rope_parametric           drope_knowledge_categories positional=RoPE metric=parametric_average
        s4_4_drope_contextual          drope_knowledge_categories positional=DroPE metric=contextual_average
        s4_4_rope_contextual_again     drope_knowledge_categories positional=RoPE metric=contextual_average
        s4_4_drope_parametric          drope_knowledge_categories positional=DroPE metric=parametric_average
        s4_4_rope_passkey_baseline     drope_knowledge positional=RoPE task=passkey metric=baseline
        s4_4_rope_passkey_disrupted    drope_knowledge positional=RoPE task=passkey metric=disrupted
        s4_4_drope_passkey_baseline    drope_knowledge positional=DroPE task=passkey metric=baseline
        s4_4_drope_passkey_disrupted   drope_knowledge positional=DroPE task=passkey metric=disrupted
        s4_4_drope_passkey_degradation drope_knowledge positional=DroPE task=passkey metric=degradation
        s4_5_rope_baseline             drope_knowledge positional=RoPE task=passkey metric=baseline
        s4_5_rope_disrupted            drope_knowledge positional=RoPE task=passkey metric=disrupted
        s4_5_drope_baseline            drope_knowledge positional=DroPE task=passkey metric=baseline
        s4_5_drope_disrupted           drope_knowledge positional=DroPE task=passkey metric=disrupted
        s4_6_rope_degradation          drope_knowledge positional=RoPE task=passkey metric=degradation
        s4_6_drope_degradation         drope_knowledge positional=DroPE task=passkey metric=degradation""",
    "c004_figure_a_caption": """
        fig_a_query_change drope_massive_counts tensor=query metric=change_from_rope
        fig_a_key_change   drope_massive_counts tensor=key metric=change_from_rope""",
    "c004_repeated_factors": """
        s8_4_rope_mlp_over_attention drope_stated statement=s7_4_rope_mlp_over_attention
        s9_1_rope_mlp_over_attention drope_stated statement=s7_4_rope_mlp_over_attention
        s7_5_drope_either            drope_stated statement=deeper_drope_either_ablation
        s8_4_drope_either            drope_stated statement=deeper_drope_either_ablation
        s9_1_drope_either            drope_stated statement=deeper_drope_either_ablation
        deeper_qk_norm_ratio         drope_stated statement=s9_5_qk_norm_ratio
        s9_6_qk_norm_ratio           drope_stated statement=s9_5_qk_norm_ratio
        s11_4_qk_norm_ratio          drope_stated statement=s9_5_qk_norm_ratio
        s11_6_qk_norm_ratio          drope_stated statement=s9_5_qk_norm_ratio
        s11_8_qk_norm_ratio          drope_stated statement=s9_5_qk_norm_ratio""",
    "c004_repeated_factor_captions": """
        fig_21_qk_norm_ratio drope_stated statement=s9_5_qk_norm_ratio
        fig_f_qk_norm_ratio  drope_stated statement=s9_5_qk_norm_ratio
        fig_j_rope_ranking   drope_tradeoff aspect=verification_range positional=RoPE
        fig_j_drope_ranking  drope_stated statement=s11_4_chance""",
    "c004_repeated_multiples": """
        s11_3_drope_multiple  drope_context_multiples context=8192
        fig_24_drope_multiple drope_context_multiples context=8192
        fig_h_drope_multiple  drope_context_multiples context=8192""",
    "c004_exp4_repeats": """
        s5_2_rope_spike_layer       drope_phase positional=RoPE metric=bos_spike_layer
        s5_2_drope_spike_layer      drope_phase positional=DroPE metric=bos_spike_layer
        s5_4_rope_spike_layer       drope_phase positional=RoPE metric=bos_spike_layer
        s5_4_drope_spike_layer      drope_phase positional=DroPE metric=bos_spike_layer
        s5_4_rope_min_entropy       drope_phase positional=RoPE metric=min_entropy
        s5_4_rope_min_entropy_layer drope_phase positional=RoPE metric=min_entropy_layer
        s5_4_drope_min_entropy      drope_phase positional=DroPE metric=min_entropy
        s5_5_drope_sink_rate        drope_sink_rates layers=average positional=DroPE
        s5_5_rope_accuracy          drope_functional positional=RoPE task=cities condition=bos_mlp_ablation
        s5_5_rope_passkey_baseline  drope_functional positional=RoPE task=passkey condition=baseline
        s5_5_rope_passkey_qk        drope_functional positional=RoPE task=passkey condition=qk_disruption
        s5_5_drope_passkey_baseline drope_functional positional=DroPE task=passkey condition=baseline
        s5_5_drope_passkey_qk       drope_functional positional=DroPE task=passkey condition=qk_disruption""",
    "c004_fig16_repeats": """
        fig_16_rope_accuracy drope_functional positional=RoPE task=sports condition=bos_mlp_ablation""",
    "c004_exp5_repeats": """
        s6_1_rope_bos_mlp          drope_bos_mlp positional=RoPE metric=ppl_ratio
        s6_1_drope_bos_mlp         drope_bos_mlp positional=DroPE metric=ppl_ratio
        s6_3_rope_write            drope_bos_write positional=RoPE metric=effective_write
        s6_3_rope_value_norm       drope_bos_write positional=RoPE metric=bos_value_norm
        s6_3_rope_max_write_layer  drope_bos_write positional=RoPE metric=max_write_layer
        s6_5_rope_spike_layer      drope_phase positional=RoPE metric=bos_spike_layer
        s6_3_drope_write           drope_bos_write positional=DroPE metric=effective_write
        s6_3_drope_value_norm      drope_bos_write positional=DroPE metric=bos_value_norm
        s6_3_drope_max_write_layer drope_bos_write positional=DroPE metric=max_write_layer
        s6_5_drope_spike_layer     drope_phase positional=DroPE metric=bos_spike_layer
        s6_4_bos_value_ratio       drope_stated statement=s6_3_bos_value_ratio
        s6_5_drope_qk_size         drope_stated statement=s6_2_drope_qk_size
        s6_5_layer1_ratio          drope_layer1_massive layers=1 positional=DroPE metric=change_from_rope""",
    "c004_exp6_repeats": """
        s7_1_layer1_ratio    drope_layer1_massive layers=1 positional=DroPE metric=change_from_rope
        s7_1_drope_count     drope_layer1_massive layers=1 positional=DroPE metric=count
        s7_1_rope_count      drope_layer1_massive layers=1 positional=RoPE metric=count
        s7_1_drope_max_write drope_stated statement=s6_5_drope_max_write
        s7_1_drope_qk_size   drope_stated statement=s6_2_drope_qk_size
        s7_1_rope_qk_size    drope_stated statement=s6_2_rope_qk_size
        s7_4_rope_mlp        drope_layer1_perplexity positional=RoPE condition=layer1_mlp metric=ppl_ratio
        s7_4_rope_attention  drope_layer1_perplexity positional=RoPE condition=layer1_attn metric=ppl_ratio
        s7_4_rope_cities     drope_layer1_tasks positional=RoPE condition=layer1_attn task=cities
        s7_4_rope_sports     drope_layer1_tasks positional=RoPE condition=layer1_attn task=sports
        s7_4_rope_passkey    drope_layer1_tasks positional=RoPE condition=layer1_attn task=passkey
        s7_4_drope_mlp       drope_layer1_perplexity positional=DroPE condition=layer1_mlp metric=ppl_ratio
        s7_4_rope_mlp_again  drope_layer1_perplexity positional=RoPE condition=layer1_mlp metric=ppl_ratio
        s7_5_rope_attention  drope_layer1_perplexity positional=RoPE condition=layer1_attn metric=ppl_ratio
        s7_5_rope_mlp        drope_layer1_perplexity positional=RoPE condition=layer1_mlp metric=ppl_ratio
        s7_5_layer1_ratio    drope_layer1_massive layers=1 positional=DroPE metric=change_from_rope""",
    "c004_sum_counts": """
        s12_1_query_change    drope_massive_counts tensor=query metric=change_from_rope
        s12_1_key_change      drope_massive_counts tensor=key metric=change_from_rope
        s12_1_rope_contextual drope_knowledge_categories positional=RoPE metric=contextual_average
        s12_1_rope_parametric drope_knowledge_categories positional=RoPE metric=parametric_average
        s12_1_rope_ratio      drope_knowledge_categories positional=RoPE metric=contextual_over_parametric
        s12_1_layer1_ratio    drope_layer1_massive layers=1 metric=change_from_rope""",
    "c004_sum_interventions": """
        s12_1_drope_parametric_baseline drope_stated statement=s5_5_drope_parametric_baseline
        s12_1_drope_parametric_ablated  drope_stated statement=s5_5_drope_parametric_ablated
        s12_1_drope_contextual_baseline drope_stated statement=s5_5_drope_contextual_baseline
        s12_1_drope_contextual_ablated  drope_stated statement=s5_5_drope_contextual_ablated
        s12_1_passkey_qk                drope_functional positional=DroPE task=passkey condition=qk_disruption
        s12_1_rope_bos_mlp              drope_bos_mlp positional=RoPE metric=ppl_ratio
        s12_1_drope_bos_mlp             drope_bos_mlp positional=DroPE metric=ppl_ratio
        s12_1_rope_accuracy             drope_functional positional=RoPE task=cities condition=bos_mlp_ablation
        s12_1_drope_write               drope_bos_write positional=DroPE metric=effective_write
        s12_1_rope_write                drope_bos_write positional=RoPE metric=effective_write
        s12_1_drope_max_write_layer     drope_bos_write positional=DroPE metric=max_write_layer
        s12_1_rope_mlp_over_attention   drope_stated statement=s7_4_rope_mlp_over_attention
        s12_1_rope_mlp                  drope_layer1_perplexity positional=RoPE condition=layer1_mlp metric=ppl_ratio
        s12_1_rope_attention            drope_layer1_perplexity positional=RoPE condition=layer1_attn metric=ppl_ratio
        s12_1_drope_either              drope_stated statement=deeper_drope_either_ablation""",
    "c004_sum_attention": """
        s12_1_sink_rate             drope_stated statement=s6_1_sink_rate
        s12_1_sink_heads            drope_stated statement=s8_4_sink_heads
        s12_1_qk_norm_ratio         drope_stated statement=s9_5_qk_norm_ratio
        s12_1_rope_attention_share  drope_layer1_content positional=RoPE metric=attention_contribution
        s12_1_drope_attention_share drope_layer1_content positional=DroPE metric=attention_contribution
        s12_1_rope_query_norm       drope_layer1_norms positional=RoPE metric=query_norm
        s12_1_rope_key_norm         drope_layer1_norms positional=RoPE metric=key_norm
        s12_1_drope_query_norm      drope_layer1_norms positional=DroPE metric=query_norm
        s12_1_drope_key_norm        drope_layer1_norms positional=DroPE metric=key_norm
        s12_1_rope_layer0           drope_crosslayer layers=0 positional=RoPE metric=attention_contribution
        s12_1_rope_layer1           drope_crosslayer layers=1 positional=RoPE metric=attention_contribution
        s12_1_drope_layer0          drope_crosslayer layers=0 positional=DroPE metric=attention_contribution
        s12_1_drope_layer1          drope_crosslayer layers=1 positional=DroPE metric=attention_contribution
        s12_1_later_attention       drope_stated statement=s10_4_later_attention
        s12_1_matching_layers       drope_captions statement=fig_23_identical_layers""",
    "c004_sum_retrieval": """
        s12_1_rope_within      drope_tradeoff aspect=within_training_accuracy positional=RoPE
        s12_1_drope_within     drope_tradeoff aspect=within_training_accuracy_range positional=DroPE
        s12_1_drope_beyond     drope_tradeoff aspect=beyond_training_accuracy positional=DroPE
        s12_1_truncation_share drope_errors positional=DroPE context=2048 category=off_by_one_length metric=share
        s12_1_near_miss_share  drope_stated statement=s11_5_near_miss_share
        s12_1_rope_ranking     drope_tradeoff aspect=verification_range positional=RoPE
        s12_1_drope_ranking    drope_tradeoff aspect=verification_range positional=DroPE""",
}

# By row of the closing summary: the cell in the section that it summarizes, for both models.
SUMMARY = """
    query_massive_mean                 drope_massive_counts tensor=query metric=count_mean
    query_massive_sd                   drope_massive_counts tensor=query metric=count_sd
    key_massive_mean                   drope_massive_counts tensor=key metric=count_mean
    key_massive_sd                     drope_massive_counts tensor=key metric=count_sd
    qk_disruption_increase             drope_disruption metric=massive_increase
    sink_rate                          drope_sink_rates layers=average
    bos_mlp_ppl_ratio                  drope_bos_mlp metric=ppl_ratio
    qk_disruption_passkey              drope_functional condition=qk_disruption task=passkey
    bos_value_norm                     drope_bos_write metric=bos_value_norm
    effective_write                    drope_bos_write metric=effective_write
    max_write_layer                    drope_bos_write metric=max_write_layer
    bos_value_all_layers_ppl_ratio     drope_bos_value_ablation condition=bos_value_all_layers metric=ppl_ratio
    layer1_mlp_ppl_ratio               drope_layer1_perplexity condition=layer1_mlp metric=ppl_ratio
    layer1_attention_ppl_ratio         drope_layer1_perplexity condition=layer1_attn metric=ppl_ratio
    sink_heads                         drope_attention metric=sink_heads
    layer1_attention_contribution      drope_layer1_content metric=attention_contribution
    layer1_query_norm                  drope_layer1_norms metric=query_norm
    layer1_key_norm                    drope_layer1_norms metric=key_norm
    layer0_attention_contribution      drope_crosslayer layers=0 metric=attention_contribution
    layers_2_31_attention_contribution drope_crosslayer layers=2-31 metric=attention_contribution
    passkey_2048                       drope_errors context=2048 category=exact metric=share
    passkey_8192                       drope_context context=8192
    dominant_error_share               drope_errors context=2048 category=off_by_one_length metric=share"""
