/**
 * Words and parts of words that are one token, with a space before them and without, in three tokenizers: o200k_base
 * and cl100k_base (`token-bound.test.ts` checks both) and that of Claude 2. They are the most frequent ones of the web,
 * and of code and documentation like ours.
 */
export const ONE_TOKEN_WORDS = `
aa ab abc ability able abort about above abs absolute aby ac acc accept accepted access account accounts ace ache ack act acted action
actions activ active activity actor acts actual actually ad adapter add added adding additional addr address addresses adds ade admin adv
advance advanced ae af aff affected after ag again age aged agent agents ages aging ago agon ah ahead ai aid aim ain air airs ais aj ak al
ale alert alias align alive alk all alle alloc allow allowed allows ally almost alone along already als also alt although always am amb
among amount amp ample an ana anal analysis anc anch anchor and android ang ange anger angle angular anim ank ann annot announce ano
another ans answer answers ant ante ants any anything ao ap api app appe appear append application apply appro approve apt ar arch
architecture ard are area areas arg args argument arguments argv ark arm around arr array arrays arrival arrow art arter article ary as
asc ash aside ask asking asks ass assert assets assign assignment assistant associated ast async at ate ath att attach attached attachment
attack attempt attention attr attribute attributes au aud audit aur aut auth authentication author authorization authors auto autom av
available ave average avoid aw await away ax ay az ba back backend background backup bad ball bank bar bare bas base based bash basic bat
batch bb bd be beat because bed been before beg begin being bel bell below ben bench benchmark benef ber best bet better between bi big
bill bin binary bind bit bits bl black blank ble blob block blocked blocking blocks blog blue bo board bob body bold bon book books bool
boolean boot bootstrap border boss bot both bottom bound bounded bounds box boxes br branch branches bre break brief bro broken browser bs
btn bu budget buf buffer bug build builder building built builtin bundle bus business but button buy by bye byte bytes ca cache cached cal
calcul call callback called caller calling calls came camera camp campaign can cancel candidate cannot cap capt car card care cargo carry
cas case cases cast cat catch category caught cause cc cd ce ceil cel cele cell cent center cer cert ces cess cfg ch cha chain chains chan
chang change changed changes changing channel channels char character characters charg chat che check checked checker checking checkout
checkpoint checks chem child children cho choice choices choose chor chosen chunk ci circ circle city ck cl claim class clean clear cli
click client clients clock clone close closed closing cloud club cm cmd co code coder codes col coll collect collection colon color colors
column columns com comb combine come comes coming comm comma command commands comment comments commit common community comp compact compan
company compare comparison compet compile compiled compiler complete completed completion complex component components compute computed
computer con conc concat cond condition conditions conf config configuration configure configured confirmation conn connect connected
connection connections cons consider console const constant constants constraint constraints constructor consume cont contact contain
container contains content contents context contexts contin continue contr contract control controller conv conversation conversion
convert converted cook cop cope copies copy cor core correct cost cou could count counter countries country counts cour course court cout
cover coverage covered covers cp cr cre create created cred credential credentials credits cri crit critical cross crypto cs css ct ctrl
ctx cul cur curl current currently cursor custom customer cut cuts cv cwd cycle cycles da dam damage dark dat data database date dated
dates dating day days db dd de dead deal death deb dec decimal decision decl declare decode decoder deep def default defaults define
defined defines definition deg del delay delete deleted delivery delta dem demo den deny dep depend dependencies dependency deps depth der
derive derived des description design desk desktop dest destroy det details detect dev develop development device df di dict did die dif
diff difference different dig digest digit digits dim dir direct direction directory dirname dis disable disabled disc disk dispatch
display dist distance distributed div do doc docs document documentation documents does dog doing dom don done door dot double down
download dr draft draw drawing driver drop drops drug dry ds du duct due dummy duplicate duration during each ear early easy eb ec ech
echo ect ed edge edges edit edited editor educ ee ef eff effect effects eg eh eight ein either ek el elapsed elect element elements elf
elif ell else elt em email embedded emit emp empty en enable enabled enc encode encoded encoder encoding end ended endif ending endpoint
ends ener energy eng engine english ens ensure ent enter entered entities entity entries entry ents env environment ep epoch epochs equ
equal equals er era eros err error errors ers ery es esc escape escaped ese especially ess est estimate et eta etc eth ether ev eval eve
even event events ever every evil ew ex exact example examples exc except exception exchange exclude exclusive exec execution exist
existing exists exit exp expand expect expected experience experimental expert expire expired expires expiry expl export exports express
expression ext extend extended extends extension extensions extern external extra extract ey eyes fa fac face fact facts fail failed fails
failure fake fall fallback false family far fast fatal fault favor fc fd fe feat feature features feed feel felt fer fetch few ff fg fi
field fields fig fight figure fil file filename files fill filled film filter filters fin final find finder finding fine finish finished
fire fires first fish fit fits five fix fixed fixture fl flag flags flat flex flight float floor flow flush fn fo focus fold folder
folders follow font food foot for force fore fork form format formation formats formed former forms fort forward found four fr frame
frames framework fre free freeze fresh friend friends from front fs ft ful full fully fun func function functions fund future game games
gap gate gc ge ged gen gener general generate generated generator ger ges get gets getting gh girl git github give given gl gle glob
global gm gn go goal going gone good google gor got gr grad grade gram graph gre great greater green grep grid ground group groups grow
growth gs gt gu guard guards gun gy ha hab had half ham hand handle handler hands hang happy har hard has hash hashed have having he head
header headers heads health heard heart heartbeat heck height held hello help helper helpers her here hex hi hidden hide high highest him
hint hip his history hit ho hold holder holders holds holes hom home hon hood hook hooks hope hor host hosts hot hour hours house how hr
href hs ht html http https hub hum human hy ia ib ic ice ich ici icon icy id ide idea ident identify identity idle ids idx ie if iff ig
ign ignore ignored ii ij ik il ile ill illegal im imag image images img imm imp impact impl implement implementation implemented
implements import important imports ims in inc include included includes including incoming increase ind inde indent index indexed indic
individual industry inf infer info inform information ing inherit ini init initial ink inline inn inner inode input inputs ins insert
inside inspect inspection inst install installed instance instead instruction instructions int integer intent inter interactive interest
interface intern internal international internet interrupt interval into inv invalid invest io ion ions ip ips ir iron is iso iss issue
issued issues ist it item items iter iterations iterator ith its iv ix iz ja jav java je job jobs join journal joy js json jud judge just
ka ke keep kernel key keys kill kind kn know knowledge known ks kt la label labels lag land landing lands lane lang language languages
larg large las last lat late later latest latin launch law layer layout lazy ld le lead leader leading leaf lean lear learn lease leased
least leave lect led ledger left leg legal lem len length ler les less let lets letter letters lev level levels lex li lib libraries
library lic license lie lies life light lik like lim limit limited limits lin line linear lines ling link linked links lint linux list
listed listen listener listeners lists literal little live living ll ln lo load loaded loading loads lob loc local localhost location
locator lock locked locks log logged logger login logs lol long look looking loop loops los lose loss lost lot love low lower ls lt ly ma
mac machine made mag mail main maint major make makes making man management manager mand manifest many map maps mar margin mark marked
marker market marks mass master mat match matches matching material math matrix matter max maximum may maybe mb md me mean means measure
med medi media median meet meeting mem member members memory men ment mention menu mer merge merged message messages met meta metadata
meter method mid middle might migration mill million milliseconds min mind mine ming minute minutes mis miss missing mission missions mit
mix mixed ml mm mo mobile mod modal mode model models modern modified modify module modules mom moment mon money monitor month months mor
more most mot mount mov move moves movie moving mp ms msg mt much mult multiple mus music must mut mv my na name named names namespace nat
national native natural nav nb nc nd ne near nearest need needed needs neg negative ner nested net network never new news next ng nice
night nil nine ning no node noise non none nor normal not note notes notify noun now np ns nt null num number ny ob obj object objects obs
observe observer oc occ och od odd ode oder oe of off offer offers office official offline offset often og oh oid oil ok ol old older ole
om omit on once one ones online only ont onto oo op open opened opening opens oper operate operation operations operator operators opp ops
opt option optional options or ord order ordered ordin ordinary ore ores org organ orig origin original orm orn orth os osp oss ost ot
other others otherwise ou ought our ours out outer output outputs outside ov over overall override overwrite ow owed own owned owner ox oy
pace pack package packed pad padding page pager pages paid paint pair pairs pan paper par para paragraph param parameter parameters params
pare parent parents park parse parsed parser part partial parts party pas pass passed passes password past pat patch path paths patient
pattern pause pay payload pc pe pec peer pen pend pending people per percent perfect perform performance period permission permissions
person pg ph phase phone phot php phrase phys pi pick picture pid pie piece pieces pin ping pipe pipeline pipes pl place placed
placeholder places plain plan plans plant plate platform play played player players playing plays ple please plist plot plt plugins plus
ply pm po point points pol policy poll pon pop por port ports pos pose posed posit position positions poss possible post postgres pot pour
power pp pr pre prec pred prefix prep prepare prepared pres present press pretty prev prevent preview previous price prices primary
principal print printed printf prints prior priority priv private pro prob probe problem proc process processing produ product production
products prof profile program progress project projects prom prompt proof prop proper properties property props prot protect protected
proto protocol prototype prov prove provide provided proxy ps pt ptr pu pub public publish published pull pulse pur pure purpose push put
puts px py python qu qual quality quarter que query quest question questions queue queued quick quiet quit quite quota quote quoted quotes
ra race rag raise raised raises ram ran random range ranges rap rate rather ratio ration raw rc rd re reach react reaction read reader
reading readonly reads ready real really reason rec rece received receiver recent recogn recommended record records rect recursive red
redirect redis reduce ref reference references reflect refresh refs reg regex region register registry regular reject rel related
relations relationship relative release released rem remaining remember remote remove removed ren rename render rep repair repeat replace
reply repo report reported reports repository represent req requ request requested requests require required requires res research resent
reserved reset resh resolve resolved resource resources respect respond respons response responses rest restart restore result results
resume ret retry return returned returns rev reve reverse review reviews revision rewrite rf rg ri rib ric rid ride right rights rim ring
rip ris risk rit river rl rm ro road rol role roles roll rolled roller rom room rooms root roots ros rot rotate rough round route routes
row rows rr rs rt ru rule rules run runner running runs ry sa safe said sal sale same sample samples sandbox save saved say sc scalar
scale scan scanner scene sch sched schema schemas school scope score scratch screen script scripts se search season seat sec second
seconds secret section sections secure security sed see seed seek seen seg segment select selected self sell sem semi sen send sender
sending sense sent sentence seq sequence ser serial series serv serve server servers service services session sessions set sets setting
settings setup severity sex sg sh sha shall shape share shared shares she shell shift ship ships shoot shop short shot should show shown
shows si side sig sign signal signals signature signed sil silent sim simple since single sit site sites six size sizeof sizes sk skip sl
slash sleep slice slot slots slow slug sm small sn snapshot so social sock socket soft software sol sold sole solid solution som some
something son song soon sort sorted sound source sources sp space spaces span spawn spe speaker spec special specific specified speech
speed spent split spot sql src ss ssh st stable stack staff stage stance stand standard standing start started starting starts stash stat
state statement states static stats status statuses stay std stderr stdin stdout ste step steps ster still stock stood stop storage store
stored stores storm story str strap strategy stre stream streams strict string strip strong struct structure structured stud student
students study stuff style styles su sub subject submit submitted subs subscription success such suffix suggest suite sum summary sup
super support supported sur sure surface sus sv sw swap switch symbol sync syntax sys system systems ta tab table tables tabs tag tags
tail take taken takes taking talk target task tasks tax tcp td te team techn tell tem temp template templates temporary ten ter term
terminal terms tes test tested tests text texts tf th than that the their them then ther there these they thing things think third this
those though thought thread three through throw tick ticks til tile tiles time timeout timer times timestamp ting tip title titles tk tmp
tn to today todo token tokens ton too tool tools top tor tot total touch town tp tr tra trace track tracked tract trail train training
trans transaction transfer transform translated translation transport trap travel tre tree trees tri trial tries trigger trim trip true
truncate trust truth try trying ts tt tty tuple turn turned tw two tx txt ty typ type typed typeof types ua ub uc ud uf ug ui uid uint ul
ult um umb un una unc und undefined under undo une unexpected unfinished unic unicode union unique unit units unity unix unk unknown
unless unlock unsafe unset unsigned unsupported unt until unused unwrap up update updated updates upgrade upload upon upper ur urg uri url
urls urn us usage use used user username users uses using usr usual usually ut utf util utils uv val valid validate validated validation
validator value values van var vari variable variant vars vas ve vec vector veh vel ven vendor vent venue ver verb verification verified
verify vers verse version versions vert very ves vi via vice vid video view views viol virtual vis visible visit visitor vo void vol von
vs wait wake walk wall want wanted war ward ware warn warning warnings was watch water way ways wd we web website week weeks weight well
went were wh what whatever when where whether which while white who whole whose why wide width will win window windows wins wise wish
witch with within without wn wo woman women won wor word words work worked worker workers workflow working works workspace world worth
would wr write writer writers writes writing written wrong ww www xf xml xt xx xy yaml year years yes yet yield yn you your ys yy za ze
zen zero zu
`;
