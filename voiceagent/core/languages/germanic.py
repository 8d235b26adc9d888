"""Word lists: German and its relatives."""

GERMANIC: dict[str, dict[str, str]] = {
    "de": {
        "never": """
            Hr Hrn Fr Frl Dr Prof Dipl Ing Mag St Hl hl Sr z B b d h u a o ä bzw ca vgl inkl exkl
            evtl ggf sog sogen insb insbes bspw Bsp usf geb gest verh gen ehem z.B d.h u.a o.ä z.T
            i.d.R u.U n.Chr v.Chr zzgl abzgl lfd einschl ausschl betr bez jew mind bsplw dgl Bez
            Abt Hrsg hrsg Ew Exz Kgl zit rd
            """,
        "maybe": """
            usw etc Str str Jh Jhd Jhdt Std std Mio Mrd Tsd Chr Fa Ges GmbH Jan Feb Mär Apr Jun Jul
            Aug Sep Sept Okt Nov Dez Mo Di Mi Do So
            """,
        "numbered": """
            str Str max min Nr nr Art Abs Kap Bd Aufl S Tel Abb Tab Pkt Ziff Anm Az Hs Nrn
            """,
        "openers": """
            Ich Du Er Sie Es Wir Ihr Der Die Das Den Dem Des Ein Eine Einen Einem Einer Dieser
            Diese Dieses Diesen Diesem Jener Jene Mein Meine Dein Deine Sein Seine Ihre Ihren Unser
            Unsere Was Wer Wen Wem Wo Wann Warum Wie Welche Welcher Welches Wohin Woher Wenn Weil
            Da Dann Danach Dort Hier Doch Aber Und Oder Denn Also Auch Als Ob Dass Damit Dabei
            Dafür Dagegen Daher Deshalb Deswegen Trotzdem Jedoch Nach Vor Bei Mit Ohne Seit Für
            Gegen Zu Zum Zur Im In Am An Auf Aus Von Vom Über Unter Um Durch Während Nun Nur Noch
            Schon Heute Morgen Gestern Jetzt Bitte Danke Ja Nein Man Ist Sind War Waren Hat Haben
            Kann Können Will Wird Werden Soll Muss Alle Alles Andere Beide Einige Viele Mehrere
            Manche Jeder Jede Kein Keine Nicht Nichts Zudem Außerdem Allerdings Später Schließlich
            Zuerst Zunächst Inzwischen Obwohl Nachdem Bevor Bis Zwar Sogar Immer Wieder Sowohl
            Solche Wir's Es's Laut Siehe Sieh Vergleiche Nimm Geh Komm Ruf Rufe Lies Schau Achte
            Beachte Warte Mach Mache Gib Lass Denk Vergiss Klicke Öffne Drücke Schreib Schreibe
            Frag Hör Bring Hol Trink Iss Setz
            """,
        "designators": """
            Option Gruppe Klasse Typ Teil Punkt Plan Vitamin Gleis Halle Block Stufe Tor
            """,
        "function_words": """
            der die das den dem des ein eine einen einem einer eines und oder aber denn weil dass
            ob wenn als wie in im an am auf aus bei mit von vom zu zum zur für über unter um durch
            nach vor seit ohne gegen ist sind war waren hat haben wird werden kann können will soll
            muss ich du er sie es wir ihr mein dein sein unser sehr nicht auch nur so dieser diese
            dieses
            """,
        "phrase_words": """
            und oder aber denn weil dass ob wenn als wie wo der die das in im an am auf aus bei mit
            von vom zu zum zur für über unter um durch nach vor seit ohne gegen
            """,
    },
    "nl": {
        "never": """
            dhr Dhr mevr Mevr mw Mw Mej mr Mr dr Dr drs Drs ir Ir ing prof Prof ds St bijv bv nl
            m.a.w d.w.z o.a z.g zgn i.p.v t.o.v m.b.t a.u.b evt ca vgl incl excl resp t.w
            """,
        "maybe": "enz etc jan feb mrt apr jun jul aug sept okt nov dec BV N.V B.V",
        "numbered": "nr Nr art Art blz hfst tel Tel fig Fig afb Afb",
        "openers": """
            Ik Jij Je Hij Zij Ze Het Wij We Jullie U De Een Dit Dat Deze Die Mijn Jouw Zijn Haar
            Ons Onze Wat Wie Waar Wanneer Waarom Hoe Welke Als Omdat Dan Daarna Daar Hier Maar En
            Of Want Dus Ook Toen Na Voor Bij Met Zonder Sinds Tegen Naar Op In Aan Uit Van Over
            Onder Om Door Tijdens Nu Vandaag Morgen Gisteren Ja Nee Dank Bedankt Is Was Waren Heeft
            Hebben Kan Wordt Er Men Alle Veel Sommige Elke Geen Niet Niets Bovendien Echter Volgens
            """,
        "function_words": """
            de het een en of maar want dus als dat die dit deze in op aan bij met van voor naar te
            ten ter uit over onder om door na is zijn was waren heeft hebben kan wordt ik jij je
            hij zij ze wij we mijn jouw haar ons onze niet ook nog zeer er
            """,
        "phrase_words": """
            en of maar want omdat dat die als in op aan bij met van voor naar uit over onder om
            door na
            """,
    },
    "da": {
        "never": "Skt Hr hr Fru fru Frk dr prof bl.a f.eks ca fx nr hhv jf kl pga inkl ekskl mht",
        "maybe": "osv mm mv etc co A/S kr mio mia",
        "numbered": "nr Nr kap s fig tlf art stk",
        "openers": """
            Jeg Du Han Hun Den Det Vi I De Dem En Et Dette Denne Disse Min Mit Din Dit Hans Hendes
            Vores Hvad Hvem Hvor Hvornår Hvorfor Hvordan Hvilken Hvis Fordi Så Men Og Eller Også
            Efter Før Ved Med Uden Siden Nu Her Der Ja Nej Tak Er Var Har Kan Vil Alle Mange Ingen
            Ikke
            """,
    },
    "sv": {
        "never": "Hr hr Fru dr prof t.ex bl.a d.v.s dvs s.k ca inkl exkl jfr St",
        "maybe": "osv m.m etc kr milj mkr",
        "numbered": "nr Nr kap s sid fig tel st",
    },
    "nb": {
        "never": "Hr hr Fru dr prof bl.a f.eks dvs ca inkl ekskl jf St",
        "maybe": "osv mm etc kr mill mrd",
        "numbered": "nr Nr kap s fig tlf",
    },
}
