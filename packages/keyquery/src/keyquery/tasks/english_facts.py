"""Common knowledge for English questions: a city's country, an athlete's sport."""


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return pairs such as `("Paris", "France")` from a text such as `France: Paris, Lyon; Italy: Rome`."""
    values_and_names = (clause.split(":") for clause in " ".join(text.split()).split(";"))
    return tuple((name.strip(), value.strip()) for value, names in values_and_names for name in names.split(","))


CITIES = _pairs(
    """
    France: Paris, Lyon, Marseille; Germany: Berlin, Munich, Hamburg; Italy: Rome, Milan, Naples; Spain: Madrid,
    Barcelona, Seville; Portugal: Lisbon, Porto; the Netherlands: Amsterdam, Rotterdam; Belgium: Brussels, Antwerp;
    Austria: Vienna, Salzburg; Switzerland: Zurich, Geneva; Norway: Oslo, Bergen; Sweden: Stockholm, Gothenburg;
    Denmark: Copenhagen; Finland: Helsinki; Ireland: Dublin, Cork; Poland: Warsaw, Krakow; the Czech Republic: Prague;
    Hungary: Budapest; Greece: Athens, Thessaloniki; Russia: Moscow, Novosibirsk; Ukraine: Kyiv; Turkey: Istanbul,
    Ankara; Egypt: Cairo, Alexandria; Morocco: Casablanca; Nigeria: Lagos; South Africa: Cape Town, Johannesburg; Iran:
    Tehran; Iraq: Baghdad; India: Mumbai, Delhi, Kolkata; Pakistan: Karachi, Lahore; Bangladesh: Dhaka; Thailand:
    Bangkok; Vietnam: Hanoi; Indonesia: Jakarta; the Philippines: Manila; China: Beijing, Shanghai; Japan: Tokyo,
    Osaka, Kyoto; South Korea: Seoul, Busan; Australia: Sydney, Melbourne; New Zealand: Auckland; Canada: Toronto,
    Montreal, Vancouver; the United States: Chicago, Seattle; Mexico: Guadalajara; Colombia: Bogota; Ecuador: Quito;
    Argentina: Buenos Aires; Brazil: Rio de Janeiro; Uruguay: Montevideo
    """
)
ATHLETES = _pairs(
    """
    tennis: Roger Federer, Rafael Nadal, Novak Djokovic, Serena Williams, Venus Williams, Steffi Graf, Andre Agassi,
    Naomi Osaka; soccer: Lionel Messi, Cristiano Ronaldo, Diego Maradona, Zinedine Zidane, David Beckham, Neymar,
    Kylian Mbappe, Mia Hamm, Megan Rapinoe; basketball: LeBron James, Kobe Bryant, Shaquille O'Neal, Magic Johnson,
    Larry Bird, Stephen Curry, Kevin Durant, Dirk Nowitzki, Tim Duncan; baseball: Babe Ruth, Derek Jeter, Willie Mays,
    Hank Aaron, Barry Bonds, Shohei Ohtani, Mike Trout, Alex Rodriguez; golf: Tiger Woods, Jack Nicklaus, Arnold
    Palmer, Phil Mickelson, Rory McIlroy, Annika Sorenstam; ice hockey: Wayne Gretzky, Sidney Crosby, Mario Lemieux,
    Bobby Orr, Gordie Howe, Alexander Ovechkin, Jaromir Jagr; cricket: Sachin Tendulkar, Virat Kohli, Brian Lara, Shane
    Warne, Ricky Ponting, Don Bradman; American football: Tom Brady, Peyton Manning, Joe Montana, Jerry Rice, Patrick
    Mahomes, Aaron Rodgers, Emmitt Smith; rugby: Jonah Lomu, Jonny Wilkinson, Dan Carter, Richie McCaw; badminton: Lin
    Dan, Lee Chong Wei, Saina Nehwal, Carolina Marin; volleyball: Karch Kiraly, Misty May-Treanor, Giba; table tennis:
    Ma Long, Zhang Jike, Jan-Ove Waldner
    """
)
