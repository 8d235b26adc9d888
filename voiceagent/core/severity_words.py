"""The words by which rules of severity tell an inversion from a rewording. Mostly English."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


YES = _words(
    "yes yeah yep yup sure absolutely certainly definitely indeed exactly correct right true okay "
    "ok agreed affirmative granted ja doch oui si sí sì sim tak evet da 是 是的 对 對 好 はい"
)
NO = _words(
    "no nope nah never unfortunately sadly incorrect wrong mistaken false untrue negative "
    "nein non não nie нет hayır 不 不是 否 いいえ"
)
"""Openers; a yes on one side against a no on the other turns the answer around."""

NEGATORS = _words(
    "not no never none nobody nothing nowhere neither nor cannot without hardly scarcely barely "
    "nicht kein keine keinen keiner nie niemals ohne ne pas jamais sans rien nunca sin nada jamás "
    "不 没 沒 没有 別 ない"
)
LIKE_NEGATORS = _words(
    "unable impossible forbidden prohibited banned refuse refused refuses refusing deny denied "
    "denies fail failed fails failing lack lacks lacked lacking prevent prevents prevented avoid "
    "avoids avoided except excluding unless absent unlikely rarely seldom decline declined stop "
    "disallowed unavailable illegal blocked"
)
"""Words that negate what they speak of: "failed" is "did not pass"."""

IDIOMS = (
    r"\bno (?:problem|doubt|worries|wonder|matter|thanks)\b",
    r"\bno (?:later|more|less|fewer|earlier|sooner) than\b",
    r"\bnot (?:only|just|to mention|least|bad)\b",
    r"\b(?:do not|nothing to|no need to|not to) worry\b(?: about)?",
    r"\bwhy (?:do not|not)\b",
    r"\b(?:can not|cannot) (?:wait|help)\b",
    r"\bwhether or not\b",
    r"\bif not\b",
    r"\bdo not hesitate\b",
    r"\bnot(?= .*\buntil\b)",
    r", (?:is|are|does|do|did|was|were|will|can|has|have|would|should|could) not (?:it|they|you"
    r"|he|she|we)\b",
    r", no\W*$",
    r"\bnothing but\b",
)
"""Phrases with a negator that negate nothing."""

_ANTONYMS = """
left/right up/down upward/downward upwards/downwards above/below over/under inside/outside in/out
on/off top/bottom front/back forward/backward forwards/backwards north/south east/west
northern/southern eastern/western upstairs/downstairs indoors/outdoors indoor/outdoor inner/outer
near/far close/far nearby/far here/there horizontal/vertical clockwise/anticlockwise ahead/behind
toward/away uphill/downhill upstream/downstream before/after early/late earlier/later first/last
former/latter previous/next past/future ancient/modern old/new old/young always/never often/rarely
often/seldom usually/rarely temporary/permanent temporarily/permanently now/later today/tomorrow
yesterday/tomorrow day/night morning/evening sunrise/sunset beginning/end start/end begin/end
start/stop start/finish begin/stop open/close open/shut open/closed opened/closed opening/closing
continue/stop continue/quit resume/pause arrive/leave arrive/depart arrival/departure enter/exit
enter/leave come/go stay/leave stay/go sunny/rainy summer/winter sooner/later more/less more/fewer
most/least many/few much/little all/none everyone/nobody everything/nothing some/none both/neither
either/neither maximum/minimum max/min majority/minority major/minor plenty/scarce double/half
single/married single/multiple single/double whole/part full/empty enough/insufficient
increase/decrease increase/reduce raise/lower rise/fall rose/fell grow/shrink gain/lose gain/loss
add/remove add/subtract plus/minus multiply/divide expand/contract widen/narrow lengthen/shorten
strengthen/weaken accelerate/slow speed/slow climb/drop surge/plunge improve/worsen
improve/deteriorate better/worse best/worst good/bad good/poor good/evil well/badly great/terrible
great/awful excellent/terrible excellent/poor positive/negative advantage/disadvantage pro/con
benefit/drawback benefit/harm beneficial/harmful helpful/harmful useful/useless safe/dangerous
safe/risky safe/harmful safely/dangerously healthy/sick healthy/unhealthy healthy/harmful
alive/dead live/die birth/death born/died well/ill big/small large/small large/tiny big/little
huge/tiny great/small tall/short long/short high/low deep/shallow wide/narrow broad/narrow
thick/thin fat/thin heavy/light strong/weak strong/gentle powerful/weak rough/smooth hard/soft
hard/easy difficult/easy difficult/simple complicated/simple complex/simple tough/easy tight/loose
sharp/blunt sharp/dull dense/sparse hot/cold hot/cool warm/cold warm/cool heat/cool freeze/melt
freeze/thaw boil/freeze wet/dry damp/dry bright/dark bright/dim light/dark loud/quiet noisy/quiet
clean/dirty clear/cloudy fresh/stale fresh/frozen fresh/rotten raw/cooked ripe/unripe sweet/bitter
sweet/sour mild/spicy sparkling/still solid/liquid solid/hollow fast/slow quick/slow
quickly/slowly rapid/slow rapidly/slowly fast/slowly quick/long soon/long gradual/sudden
gradually/suddenly cheap/expensive cheap/costly affordable/expensive inexpensive/expensive
free/paid free/expensive rich/poor wealthy/poor profit/loss buy/sell bought/sold purchase/sell
buyer/seller borrow/lend lend/return deposit/withdraw credit/debit earn/spend save/spend
save/waste save/delete income/expense surplus/deficit supply/demand import/export gross/net
asset/liability bull/bear win/lose won/lost winner/loser victory/defeat success/failure
succeed/fail pass/fail passed/failed beat/lose ahead/trailing attack/defend offense/defense
war/peace friend/enemy ally/enemy hero/villain love/hate like/dislike like/hate enjoy/hate
happy/sad happily/sadly happy/unhappy glad/sorry joy/sorrow calm/nervous calm/stormy
brave/cowardly proud/ashamed polite/rude kind/cruel kind/mean friendly/hostile generous/stingy
honest/dishonest humble/arrogant smart/stupid clever/stupid wise/foolish careful/careless
patient/impatient optimistic/pessimistic hope/despair laugh/cry praise/criticize praise/blame
trust/distrust encourage/discourage support/oppose for/against agree/disagree accept/reject
accept/refuse accept/decline accepted/declined approve/reject approve/disapprove confirm/deny
confirm/cancel confirmed/cancelled admit/deny allow/forbid allow/prohibit allow/ban allow/block
permit/forbid permit/prohibit allowed/banned legal/illegal lawful/unlawful guilty/innocent
guilt/innocence arrest/release mandatory/optional required/optional compulsory/voluntary
compulsory/optional necessary/unnecessary must/may possible/impossible likely/unlikely
certain/uncertain certain/doubtful sure/unsure true/false right/wrong correct/incorrect
correct/wrong accurate/inaccurate real/fake real/imaginary genuine/fake genuine/counterfeit
original/copy natural/artificial fact/fiction fact/myth truth/lie include/exclude
included/excluded including/excluding with/without presence/absence present/absent
available/unavailable visible/invisible visible/hidden show/hide reveal/conceal find/lose
found/lost remember/forget know/ignore known/unknown familiar/strange common/rare common/unusual
usual/unusual normal/abnormal ordinary/extraordinary popular/unpopular famous/unknown
same/different similar/different equal/unequal identical/different together/apart join/leave
connect/disconnect connected/disconnected attach/detach link/unlink lock/unlock locked/unlocked
enable/disable enabled/disabled activate/deactivate active/inactive active/passive online/offline
install/uninstall load/unload plug/unplug push/pull fill/empty pack/unpack wrap/unwrap
dress/undress build/destroy build/demolish create/destroy create/delete make/break fix/break
repair/break repair/damage keep/discard keep/lose keep/delete keep/change hold/release catch/throw
catch/miss give/take send/receive sent/received sender/recipient pick/drop tie/untie ask/answer
question/answer teach/learn speak/listen read/write employer/employee hire/fire hired/fired
teacher/student parent/child mother/father son/daughter brother/sister husband/wife uncle/aunt
king/queen man/woman men/women boy/girl male/female host/guest doctor/patient public/private
official/unofficial formal/informal formal/casual professional/amateur civilian/military
domestic/foreign domestic/international local/global local/foreign native/foreign
national/international urban/rural internal/external internally/externally interior/exterior
primary/secondary senior/junior superior/inferior upper/lower advanced/basic expert/novice
expert/beginner general/specific abstract/concrete theory/practice theoretical/practical
objective/subjective direct/indirect directly/indirectly manual/automatic manually/automatically
analog/digital odd/even prime/composite rational/irrational finite/infinite vowel/consonant
acid/base acidic/alkaline metal/nonmetal conductor/insulator artery/vein benign/malignant
acute/chronic contagious/noncontagious vegetarian/carnivorous herbivore/carnivore predator/prey
mammal/reptile asleep/awake sleep/wake tired/rested tired/energetic hungry/full sober/drunk
busy/free busy/idle occupied/vacant occupied/free taken/free taken/available crowded/empty
float/sink flat/steep flat/hilly straight/curved straight/crooked stable/unstable fixed/variable
fixed/broken working/broken constant/variable static/dynamic stationary/moving moving/still
awake/unconscious attract/repel absorb/emit inhale/exhale evaporate/condense dissolve/precipitate
stretch/shrink bend/straighten gather/scatter unite/divide united/divided merge/split
combine/separate mix/separate joint/separate together/separately simplify/complicate
remember/forgets follow/precede follow/lead leader/follower cause/prevent protect/harm
protect/endanger help/hinder help/harm cure/cause heal/hurt relieve/worsen calm/upset lower/higher
lighter/heavier tame/wild guard/threat advance/retreat forward/reverse interest/bore
boring/interesting boring/exciting dull/exciting beautiful/ugly pretty/ugly
attractive/unattractive elegant/clumsy comfortable/uncomfortable convenient/inconvenient
reliable/unreliable strict/lenient conservative/liberal conservative/progressive
democratic/authoritarian republic/monarchy victory/loss rise/drop rise/decline climb/fall
climb/decline increase/drop increase/decline grow/decline increase/fall increase/lower
raise/reduce raise/cut raise/drop tighten/loosen tight/slack behind/front here/out
in/away home/away home/out gain/drop boost/reduce boost/cut upgrade/downgrade inflate/deflate
ascend/descend ascent/descent lead/trail winning/losing pro/anti youngest/oldest elder/younger
adult/child longer/shorter near/distant close/distant ripe/rotten fresh/old new/used new/worn
top/lowest highest/lowest host/visitor seller/customer landlord/tenant lender/borrower
creditor/debtor plaintiff/defendant prosecutor/defender cheap/dear sweet/salty bland/spicy
crunchy/soft crisp/soggy firm/soft stiff/flexible rigid/flexible fragile/sturdy fragile/robust
delicate/robust sturdy/flimsy opaque/transparent clear/murky clear/foggy clear/vague vague/precise
exact/approximate exactly/roughly precise/rough specific/vague brief/lengthy brief/long
frequent/rare frequently/rarely constantly/rarely regular/irregular daily/never permanent/brief
eternal/brief urgent/unimportant important/trivial important/unimportant serious/minor
serious/trivial severe/mild severe/minor critical/minor mild/strong gentle/harsh gentle/rough
peaceful/violent safe/unsafe secure/insecure secure/vulnerable confident/insecure certain/unsure
eager/reluctant willing/reluctant willing/unwilling active/idle lively/dull energetic/lazy
hardworking/lazy productive/unproductive efficient/wasteful effective/ineffective
effective/useless accept/deny grant/deny grant/refuse give/withhold share/hoard invite/exclude
welcome/unwelcome praise/condemn defend/accuse accuse/acquit convict/acquit convicted/acquitted
punish/reward reward/penalty hope/fear courage/fear confidence/doubt believe/doubt trust/suspect
peaceful/hostile love/loathe adore/despise respect/despise admire/despise dry/rainy dry/humid
sunny/cloudy calm/windy warm/freezing hot/freezing hot/chilly mild/freezing expand/shrink
swell/shrink sit/stand seated/standing lie/stand awake/sleeping lift/lower lift/drop hang/drop
open/seal seal/unseal mount/unmount mount/dismount embark/disembark board/alight landing/takeoff
incoming/outgoing inbound/outbound subscribe/unsubscribe follow/unfollow like/unlike mute/unmute
encrypt/decrypt encode/decode compress/decompress upload/download login/logout undo/redo
difference/same valid/expired current/expired spoil/keep rain/dry sunny/rain edible/poisonous
edible/toxic toxic/harmless poisonous/harmless clockwise/counterclockwise weekend/weekday
weekends/weekdays save/lose save/cost until/from until/after free/pay gain/cost uncle/nephew
aunt/niece father/son mother/daughter parent/son parent/daughter grandfather/grandson
grandmother/granddaughter grandparent/grandchild ancestor/descendant extra/included extra/free
calm/rough inward/outward inwards/outwards
ends/starts expire/start above/under below/over signed/unsigned hit/miss high/cheap
"""

ANTONYMS: dict[str, set[str]] = {}
for _pair in _ANTONYMS.split():
    _one, _other = _pair.split("/")
    ANTONYMS.setdefault(_one, set()).add(_other)
    ANTONYMS.setdefault(_other, set()).add(_one)

PARTICLES = _words(
    "in out on off up down over under for against with without before after above below here there "
    "away home more less much little until from"
)
"""Opposites only where they stand in the same place."""

PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "anti", "counter")
"""A word and the same word behind one of these are opposites."""

IRREGULAR = dict(
    pair.split("/")
    for pair in (
        "ate/eat beat/beat became/become began/begin bent/bend bought/buy broke/break "
        "brought/bring built/build came/come caught/catch chose/choose drank/drink "
        "drove/drive fell/fall felt/feel flew/fly forgot/forget forgotten/forget found/find "
        "froze/freeze gave/give "
        "given/give gone/go got/get grew/grow hid/hide hidden/hide held/hold kept/keep knew/know "
        "known/know lay/lie learnt/learn left/leave lent/lend lost/lose made/make meant/mean "
        "met/meet paid/pay ran/run rang/ring rose/rise risen/rise said/say sang/sing sank/sink "
        "saw/see seen/see sent/send shook/shake shrank/shrink shut/shut slept/sleep sold/sell "
        "spent/spend spoke/speak spoken/speak stole/steal stood/stand swam/swim taken/take "
        "taught/teach thought/think threw/throw told/tell took/take understood/understand "
        "went/go woke/wake won/win wore/wear worn/wear wrote/write written/write"
    ).split()
)
"""Forms of verbs that no ending tells."""

UNITS = {
    alias: name
    for name, aliases in {
        "percent": "% percent per_cent",
        "dollar": "$ dollar buck usd",
        "euro": "€ euro eur",
        "pound": "£ pound quid lb",
        "yen": "¥ yen",
        "cent": "cent",
        "meter": "m meter metre",
        "kilometer": "km kilometer kilometre",
        "mile": "mile mi",
        "foot": "ft foot feet",
        "inch": "inch",
        "yard": "yard",
        "centimeter": "cm centimeter centimetre",
        "millimeter": "mm millimeter millimetre",
        "kilogram": "kg kilogram kilo",
        "gram": "g gram",
        "milligram": "mg milligram",
        "ounce": "oz ounce",
        "ton": "ton tonne",
        "liter": "l liter litre",
        "milliliter": "ml milliliter millilitre",
        "gallon": "gallon",
        "teaspoon": "tsp teaspoon",
        "tablespoon": "tbsp tablespoon",
        "cup": "cup",
        "celsius": "°c celsius",
        "fahrenheit": "°f fahrenheit",
        "second": "s sec second",
        "minute": "min minute",
        "hour": "h hr hour",
        "day": "day",
        "week": "week",
        "fortnight": "fortnight",
        "month": "month",
        "year": "year",
        "decade": "decade",
        "century": "century centurie",
    }.items()
    for alias in aliases.split()
}

MEASURES = {
    "percent": ("share", "1/100"),
    "cent": ("dollar", "1/100"),
    "second": ("time", "1"),
    "minute": ("time", "60"),
    "hour": ("time", "3600"),
    "day": ("time", "86400"),
    "week": ("time", "604800"),
    "fortnight": ("time", "1209600"),
    "month": ("months", "1"),
    "year": ("months", "12"),
    "decade": ("months", "120"),
    "century": ("months", "1200"),
    "millimeter": ("length", "1/1000"),
    "centimeter": ("length", "1/100"),
    "meter": ("length", "1"),
    "kilometer": ("length", "1000"),
    "milligram": ("mass", "1/1000"),
    "gram": ("mass", "1"),
    "kilogram": ("mass", "1000"),
    "ton": ("mass", "1000000"),
    "milliliter": ("volume", "1/1000"),
    "liter": ("volume", "1"),
}
"""What a unit measures, and how much of it: 24 hours are a day."""

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SMALL = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_NTH = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
ORDINALS = {word: value for value, word in enumerate(_NTH, start=1)} | {
    word[:-1] + "ieth": 10 * value for value, word in enumerate(_TENS, start=2)
}

WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS = "january february march april june july august september october november december".split()
SEASONS = "spring summer autumn winter".split()
DAYS = frozenset([*WEEKDAYS, *MONTHS, "may_month", "today", "tomorrow", "yesterday", "tonight"])

TITLES = _words("mr mrs ms miss dr doctor prof professor sir madam lord lady saint st president")
STARTERS = _words(
    "i it he she we you they this that these those there here the a an his her its our your their "
    "my what who which when where why how if so but and or because although while since after "
    "before in on at for from with by to of as yes no not please let sure well then now also"
)
"""Words that begin sentences and are no names."""
FUNCTION = STARTERS | _words(
    "be been being am is are was were do does did have has had can could will would shall should "
    "may might must than into onto about up down out off over under again very too quite just only "
    "still already even any some all both each every much many more most less least us me him them"
)
"""Words that carry no content of their own."""
NOUNS = _words(
    "everyone everybody everything someone somebody something anyone anybody anything nobody "
    "nothing people others another either neither whoever whatever most many both each several "
    "some all none few children kids men women police perhaps maybe sometimes usually often today "
    "tomorrow water milk bread rice sugar salt honey butter meat fish fruit food coffee tea beer "
    "wine juice oil gold silver iron steel copper wood glass paper plastic money time life love "
    "music art science history math maths weather rain snow wind ice air light heat sound traffic "
    "news information advice work homework school college church dinner lunch breakfast supper "
    "sleep exercise health admission entry delivery shipping payment access lightning thunder "
    "sunlight rent electricity gas progress research evidence practice patience luck help support"
)
"""What may begin a sentence without an article, and is no name."""
DETERMINERS = _words("the a an his its their my your our")
PEOPLES = dict(
    pair.split("/")
    for pair in (
        "american/america australian/australia austrian/austria belgian/belgium brazilian/brazil "
        "british/britain canadian/canada chinese/china danish/denmark dutch/netherlands "
        "egyptian/egypt english/england european/europe finnish/finland french/france "
        "german/germany greek/greece hungarian/hungary indian/india irish/ireland israeli/israel "
        "italian/italy japanese/japan korean/korea mexican/mexico norwegian/norway "
        "polish/poland portuguese/portugal roman/rome russian/russia scottish/scotland "
        "spanish/spain swedish/sweden swiss/switzerland turkish/turkey ukrainian/ukraine "
        "vietnamese/vietnam"
    ).split()
)
"""Of which country an adjective speaks."""
PLACES = _words("here there i you he she it we they")
"""Who and where: carry no content, but may change places."""
SUBJECTS = {"me": "i", "him": "he", "her": "she", "us": "we", "them": "they"}
SYMMETRIC = _words(
    "next near nearby beside opposite across adjacent similar same different equal identical "
    "married related parallel between with close apart far together meets resembles"
)
"""Words of relations that hold in both directions."""
COMMUTATIVE = _words("and or plus is are was were equals the a an with as well & , und et y oder")
"""What may stand between two parts that change places without changing what is said."""
