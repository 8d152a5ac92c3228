/// Passwords that are tried first: of the most common ones in published leaks those with at least ten characters, in
/// lower case. Words that are insults are left out.
enum CommonPasswords {
    static let all = Set(text.split(whereSeparator: \.isWhitespace).map(String.init))

    private static let text = """
        ********** 0.00000000 0000000000 000000000000 0000000000d 0000000000o 000777fffa 000webhost 0102030405
        010203040506 0123456789 01234567890 012345678910 0123654789 014702580369 0147258369 0147852369 0147896325
        0192837465 01telemike01 0987654321 0987654321a 0987654321q 0cdh0v99ue 0icotpd785 0o9i8u7y6t 0r968ji9ufj6
        1010101010 1020304050 102030405060 1029384756 1029384756q 10293847qp 10987654321 1111111111 11111111111
        111111111111 111111111111111 1111111111zz 1111122222 11111aaaaa 1112131415 111222333000 111222333444555
        111222333a 111222tianya 1122112211 1122334455 112233445566 1123581321 1133557799 1211109032 1212121212
        1212312121 1213141516 121324810z 1223334444 122333444455555 123123123123 123123123a 123123123q 123123qweqwe
        123321123321 123321456654 123321qweewq 1234509876 1234512345 1234554321 1234554321a 1234554321q 123456123456
        1234562000 12345654321 123456654321 12345672000 123456782000 1234567887654321 123456789* 123456789+ 123456789.
        1234567890 1234567890- 1234567890-= 12345678900 123456789000 12345678900987654321 12345678901 1234567890123
        12345678901234567890 1234567890987654321 1234567890a 1234567890d 1234567890m 1234567890o 1234567890p 1234567890q
        1234567890qaz 1234567890qw 1234567890qwe 1234567890qwerty 1234567890qwertyuiop 1234567890s 1234567890w
        1234567890z 1234567890zzz 1234567891 12345678910 123456789101 1234567891011 123456789101112 12345678912
        123456789123 123456789123456 1234567891234567 123456789123456789 1234567892000 1234567898 12345678987654321
        1234567899 123456789987654321 123456789a 123456789aa 123456789abc 123456789as 123456789asd 123456789b 123456789c
        123456789d 123456789e 123456789f 123456789g 123456789h 123456789i 123456789j 123456789k 123456789l 123456789m
        123456789n 123456789o 123456789p 123456789q 123456789qaz 123456789qq 123456789qqq 123456789qw 123456789qwe
        123456789qwer 123456789qwerty 123456789r 123456789s 123456789t 123456789v 123456789w 123456789x 123456789y
        123456789z 123456789zx 123456789zxc 123456789zz 12345678qwe 1234567qwertyu 123456abcd 123456asdf 123456qwer
        123456qwert 123456qwerty 12345abcde 12345asdfg 12345qwert 12345qwerty 12345trewq 12345zxcvb 1234qwerasdf
        1234qwerasdfzxcv 1234qwerty 1236547890 123654789a 123admin32 123admin321 123admin321a 123hfjdk147 123password
        123qwe123qwe 123qwe456rty 123qweasdzx 123qweasdzxc 123qwerty123 12qw34er56ty 132forever 1346798520 1357908642
        1357913579 1357924680 1357997531 13587930210 1472583690 147258369a 159753159753 1597532486 159753456852
        17171717aa 18atcskd2w 18n28n24a5 1928374655 1958proman 1986irachka 19952009sa 19mtpgam19 1a2a3a4a5a 1a2b3c4d5e
        1a2s3d4f5g 1a2s3d4f5g6h 1asdfghjkl 1butterfly 1chocolate 1fptjtl919 1fr2rfq7xl 1life2live 1pass1page 1q2q3q4q5q
        1q2w3e4r5t 1q2w3e4r5t6 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8i9o 1q2w3e4r5t6y7u8i9o0p
        1qa2ws3ed4rf 1qa2ws3ed4rf5tg 1qaz2wsx3e 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazwsxedc 1qazxsw23edc 1qazxsw23edcvfr4
        1qwertyuio 1qwertyuiop 1v7upjw3nt 1z2x3c4v5b 1zn6fpn01n 1zn6fpn01x 2000comeer 20070509031 2012comeer 2222222222
        23176djivanfros 2416101113 2468013579 26429vadim 2cxdn8s271 2dumb2live 2kroliczek 2pacshakur 31081981rs
        31217221027711 3141592654 31x7t5xbke 3216732167 32615948worms 3333333333 3526535265 38gjgeuftd 3d8cubaj2e
        3daysgrace 3f3fpht7op 3odi15ngxb 3qdlqb49js 3rjs1la2qe 3rjs1la7qe 3rjs5la8qe 3s43pth5aea 3syqo15hil 413276191q
        41d8cd98f00b 421uiopy258 4294967296 42qwerty42 4444444444 4815162342 4815162342a 4815162342lost 4815162342q
        4904s677075 51051051051 520love101182 541233432442 5432112345 5532361cnjqrf 5544332211 5555555555 5845201314
        59382113kevinp 5hsu75kpot 5plk4l5uc7 5t4r3e2w1q 5x1cjdsb9p 5xfgs3ii9d 6666666666 671fsa75yt 6hbf28w791
        7418529630 742617000027 7777755102q 7777777777 7894561230 789456123a 7elephants 7jokx7b9du 7ugd5hip2j 80070633pc
        80637852730 8096468644q 80988218126 87e5nclizry 88002000600 8888888888 89015173454 89032073168 89172735872
        89211375759 89231243658s 89600506779 89876065093rax 8ix6s1fceh 8phrowz622 8phrowz624 9085084232 9085603566
        9293709b13 92k2cizcdp 9638527410 9876543210 9876543211 987654321a 987654321g 987654321q 987654321z 989244342a
        9988776655 999111999q 9999999999 99strenght 9uzp9jek3f 9z5ve9rrcz <password> ?????????? ??????@mail.ru
        @bigmir.net a123456789 a1234567890 a1a2a3a4a5 a1b2c3d4e5 a1s2d3f4g5 a1s2d3f4g5h6 a3eilm2s2y a987654321
        aa123456789 aaaaaaaaa1 aaaaaaaaaa abc1234567 abc123456789 abcd123456 abcde12345 abcdefg123 abcdefghi1 abcdefghij
        abercrombie abracadabra abrakadabra accountant accountbloc accounting adams33486 admin18533362 administrator
        aerosmith1 afghanistan afrika2002 agnieszka1 ahbird1984 ajcuivd289 ajnjuhfabz akademiks11 aksrms8010 alabama123
        alejandra1 alejandro1 alejandro2 aleksander aleksandra alessandra alessandro alexander1 alexander2 alexander3
        alexandra1 alexandria alexsander allahakbar allahuakbar allrecipes almario927 alphaomega alternativa am4h39d8nh
        amadeusptfcor amdturion64 america123 amoreterno amsterdam1 an83546921an13 anastasia1 anastasija anastasiya
        andrewjackie andrey1992 angelbaby1 angeleyes1 angelochek angelofwar angelseye22 animal2000 annabelle1
        antananarivu anthony123 antoinette antonio123 apocalypse apokalipsis applesauce aquamarine arabella24630
        arcobaleno argentina1 armageddon armorgames armstrong1 arschloch1 arsenal123 asdasdasd1 asdf123456 asdfg12345
        asdfgh123456 asdfghjkl1 asdfghjkl12 asdfghjkl123 asdfghjkl: asdfghjkl:&#39: asdfghjkl; astalavista astonmartin
        astonvilla auckland2010 aug!272010 australia1 avrillavigne awdrgyjilp awesome123 awo8rx3wa8t azertyuiop
        azsxdcfvgb azwebitalia b123456789 babemagnet babyboy123 babycakes1 babygirl01 babygirl06 babygirl07 babygirl08
        babygirl09 babygirl10 babygirl11 babygirl12 babygirl13 babygirl14 babygirl15 babygirl16 babygirl17 babygirl18
        babygirl19 babygirl20 babygirl21 babygirl22 babygirl23 babygirl24 babygirl69 babygurl12 babygurl13 babygurl14
        backspace1 backstreet badnaamhere baili123com baltimore1 bangladesh barbiegirl barcelona1 baseball08 baseball09
        baseball10 baseball11 baseball12 baseball13 baseball14 baseball15 baseball16 baseball17 baseball18 baseball19
        baseball20 baseball21 baseball22 baseball23 baseball24 baseball25 baseball33 basketbal1 basketbal9 basketball
        basketball1 battlefield beautiful1 beautiful2 beethoven9 bellissima benjamin15 berezuckiy bernadette bestfriend
        bestfriends bettyboop1 bigbrother bigpimpin1 billabong1 billiejoe1 birmingham birthday10 birthday100 birthday21
        birthday26 birthday27 birthday28 birthday299 birthday54 bismillah1 blablabla1 blackberry blackcat123 blackdragon
        blackhawk1 blackheart blackhorse blackjack1 blackmetal blackrose1 blackwater blackwhite bladerunner blingbling
        blkdrag0ns blood4life bltynbabrfwbz blueberry1 bluedevils bluedragon bobesponja bobmarley1 boguska123 bondarenko
        boredboi4u boy4u2ownnyc boyfriend1 bpgjldsgjldthnf brandon123 braveheart breakdance brittany12 broadband1
        brokenhear browneyes1 brownsugar brucewayne bubblegum1 bubbles123 budweiser1 bugsbunny1 bujhmbujhm bumblebee1
        businessbabe butterball butterbean buttercup1 butterflies butterfly! butterfly0 butterfly1 butterfly2 butterfly3
        butterfly4 butterfly5 butterfly6 butterfly7 butterfly8 butterfly9 bvp33w7epu bwfq23jp7f byajhvfnbrf c123456789
        c43dae874d c43qpul5rz calculator california california1 callofduty cameron123 candycane1 candygirl1 cannondale
        capricorn1 capricornio cardinals1 carebears1 carpediem1 carpenter1 casablanca cashmoney1 cassandra1 catherine1
        cds04121989 cegthgegth cegthgfhjkm cellphone1 celtic1888 cepetsugih cfkfvfylhf cghfdjxybr cgtwbfkbcn challenger
        change1234 chargers21 charlie123 charlotte1 charly2004 cheburashka cheerleade cheerleader cheerleaers cheesecake
        cheguevara chelle1234 chelsea123 chessmaster chevrolet1 chicharito chicken123 chickenwing101 chihuahua1
        chinchilla chocolate! chocolate1 chocolate2 chocolate3 chocolate4 chocolate5 chocolate7 chocolate8 chocolate9
        chrisbrown christelle christiaan christian1 christian2 christian7 christina1 christina2 christine1 christmas1
        christmas2 christophe christopher christopher1 chronic420 cinderella cjdthitycndj cjmasterinf classof200
        classof201 clementine cleopatra1 cleveland1 clubpenguin cm6e7aumn9 cnfnbcnbrf cnjvfnjkju coccinella combat123654
        comicbookdb comicbooks computador computadora computer11 computer12 computer123 concepcion confidence connection
        constantin constantine contortionist contrasena cookiemons cookiemonster cookies123 cool123456 coolbeans1
        coorslight copenhagen cordell123 coregmedia corperfmonsy cosmopolitan counterstrike countryboy couponsc10
        courtney12 crackhead1 crazygirl1 crepusculo cristiano7 crystal123 ctdfcnjgjkm cupcake123 cutiepie12 cvzefh1gkc
        cxfcnkbdfz cxfcnmttcnm cyberonline cyecvevhbr cyjdsvujljv cytuehjxrf d0r1nc0urt d123456789 d2xyw89sxj d71lwz9zjs
        d9zufqd92n daddygirl1 daddysgirl dance4life dangerous1 dangerous12 danielle12 daredevil1 darkangel1 darkknight
        darthvader dashadasha dbrnjhjdbx dbrnjhjdyf dctvcjcfnm dctvghbdtn dddddddddd deathnote1 december10 december11
        december12 december13 december14 december15 december16 december17 december18 december19 december20 december21
        december22 december23 december25 december28 december31 deeppurple deepthroat deerhunter delicious1 delpiero10
        deltaforce demilovato demon12345 demon1q2w3e demon1q2w3e4r demon1q2w3e4r5t depechemode desperados destiny123
        detroit313 deutschland devildriver devilmaycry devilmaycry4 dfg5fhg5vgfh1 dfktynbyrf dhjnvytyjub diamond123
        dictionary digitalprodu diosesamor diosesfiel disneyland disturbed1 diwtgm8492 dkflbdjcnjr dkflbvbhjdbx
        dkflbvbhjdyf dkxjizc282 dodgeviper doggystyle dogphil3650 dolphins13 domainlock2005 dominican1 dominique1
        domodedovo donaldduck donkeykong dontforget doodlebug1 doomsayer.2.7mords.v doomsayer.2.7mords.vv dragonball
        dragonballz dragonfire dragonfly1 dramaqueen drumandbass earnhardt3 eastside13 education1 edwardcullen
        edxk20qmfs efbcapa201 eh1k9oh335 ejaculation ekaterina20 electrical electronic electronics element123 elisabeth1
        elisabetta elizabeth0 elizabeth1 elizabeth2 elizabeth3 elizabeth7 elizabeth8 elizabeth9 elsalvador emachines1
        emmanuelle employment engineering enterprise eqes606898 escaflowne esmeralda1 esperanza1 estrellita ethanryan01
        evanescence evangelion everything evolution1 eybdthcbntn ezekiel11991 f1uuhza723 faca210898 fallen_angel
        fallenangel falloutboy familiyafamiliya familyguy1 fantastic4 farfallina fartripper fcbarcelona feder_1941
        felicidade fenerbahce ffffffffff fgjrfkbgcbc fighting54 finalfantasy fiorentina firefighter firestarter
        firstone123 fisherman1 fkg7h4f3v6 fkmnthyfnbdf fktrcfylh1 fktrcfylhf fktrcfylhjd fktrcfylhjdbx fktrcfylhjdf
        fktrcfylhjdyf fktrcfylth flatblocker flintstone flowerpower flowers123 flvbybcnhfnjh football01 football07
        football08 football09 football10 football11 football12 football123 football13 football14 football15 football16
        football17 football18 football19 football20 football21 football22 football23 football24 football25 football27
        football28 football32 football33 football34 football44 football45 football54 football55 football56 football69
        football77 football88 football95 football99 forever123 forgetmenot forgotten1 formatters forzainter forzamilan
        forzanapoli foundation foxracing1 fqrg7cs493 francesca1 francisco1 frederiksberg freedom123 freestyle1
        friends123 friends4ev friendship friendster froinlaven fromvermine frozenfish fu7u4a#$$$ fufnfrhbcnb fullaccess
        fullmetal1 fxzz75$yer fyfnjkmtdbx fyfnjkmtdyf fynfyfyfhbde g13916055158 g9l2d1fzpy gabriel123 gabriella1
        gabrielle1 galatasara galatasaray gamemaster gangbanged gangsta123 gangster12 gblfhfcbyf gearsofwar generation
        gerasimova gettherefast gfhfcjkmrf gfhfvgfvgfv gfhjkmgfhjkm gggggggggg ghbdtndctv ghbdtnghbdtn ghbdtngjrf
        ghbdtnrfrltkf ghhh47hj764 ghhh47hj7649 ghjcnbnenrf ghjcnbvtyz ghjcnjabkz ghjcnjgbpltw ghjcnjgfhjkm ghjcnjghjcnj
        ghjcnjnfr1 ghjcnjqgfhjkm ghjcnjrdfibyj ghjcnjrdfif ghjgfufylf ghjnbdjcnjzybt ghjrehfnehf ghjrjgtyrj ghjuhfvbcn
        ghjuhfvvbcn ghostrider gigaman8891 girlfriend girlygirl1 gjdtkbntkm gjikbdctyf gjkysqgbpltw gjytltkmybr
        glamorous1 godblessme godfather1 godisgood1 godisgreat godislove1 godlovesme goldfinger golfcourse good123654
        goodfellas goodmorning goodtimes1 google.com googletester gordolee85 gossipgirl grandorgue grasshopper
        greedisgood greenday12 greeneyes1 greenlantern grenouille gribouille groupd2013 gtavicecity gthtcnhjqrf
        gthtrhtcnjr gtnhjpfdjlcr guadalupe1 guatemala1 guillermo1 guitarhero gunslinger gunsnroses gwarmonster
        gxlmxbewym gy3yt2rgls gymnastics h1xp2z2duk h2vwdubjx4 hallohallo halloween1 hamburger1 hammertime hannahmont
        hannahmontana hannover96 hans4queck happiness1 happy12345 happydays1 happyfeet1 happyhappy hardwareid
        harekrishna harrypotte harrypotter hawkesbury93 hbhc8290826 hd764nw5d7e1vb1 heartbreak heartbroke heartless1
        heather123 heavymetal hedimaptfcor helicopter hello12345 hellohello hellokitty hellomoto1 hellothere helloworld
        hellraiser henderson1 hernandez1 hesoyam123 heterosexual hevhk43n9j heyheyhey1 hgrfqg4577 highlander highschool
        hijodeputa hilaryduff hillbilly1 history278 hollister1 hollister2 hollister3 hollywood1 hollywood2 holyspirit
        homelesspa hondacivic hondas2000 honeybunny hotmail.com hotmail123 housewifes houston713 hshfd4n279 htubcnhfwbz
        huhbbhzu78 hurricane1 hx28o9e646 hypnodanny iaapptfcor iamawesome iamnumber1 iampurehaha2 iamthebest ibicguwjic
        icecream12 ichliebedi ichliebedich icxkyb7972 id6c3wr6un iddqdiddqd iddqdidkfa idontcare1 idontknow1 igetmoney1
        ihatethisgame illuminati ilovealex1 iloveboobies iloveboys1 ilovechris ilovedavid ilovegirls ilovehim12
        iloveindia ilovejames ilovejesus ilovejosh1 ilovejusti ilovematt1 iloveme123 ilovemike1 ilovemusic ilovemybab
        ilovemydad ilovemyfam ilovemyfamily ilovemykid ilovemykids ilovemylife ilovemymom ilovemymum ilovemysel
        ilovemyself ilovenick1 iloveryan1 iloveyou01 iloveyou07 iloveyou08 iloveyou09 iloveyou10 iloveyou11 iloveyou12
        iloveyou123 iloveyou13 iloveyou14 iloveyou143 iloveyou15 iloveyou16 iloveyou17 iloveyou18 iloveyou19 iloveyou20
        iloveyou21 iloveyou22 iloveyou23 iloveyou24 iloveyou69 iloveyou88 iloveyou<3 iloveyouba iloveyouso iloveyoux3
        impossible imthebest1 imyaimyaimya inactive1996aug incredible independen independent information ingodwetrust
        insertions installdevic installsqlst installutil intelinside interacial intercourse intermilan international
        internazionale inuyasha12 ironmaiden iseedeadpeople istanbul34 itsasecret iw14fi9jwqa iw14fi9jxl j123456789
        j1v1fp2bxm j3qq4h7h2v jackass123 jackdaniels jackson123 jacqueline jaigurudev jaihanuman jamesbond007 jamesbond1
        jarox1301! jasmine123 jediknight jedimaster jefferson1 jeffhardy1 jellybean1 jellybeans jennifer12 jessejames
        jessica123 jesucristo jesuschris jesuschrist jesuscristo jesusfreak jesusislord jesuslives jesusloves
        jesuslovesme jesussaves jetbalance jfgvcqbuzug jiang8kevin jiefang007 jigei743ks jimandanne jjcg16dj5k
        jjjjjjjjjj jkiuztdftl57 jlbyjxtcndj jobshop2002 john!20130605at1753 johnathan1 johncena12 johncena54 johndeere1
        johnny1959 johnnydepp jonathan12 jordan2345 josemanuel josephine1 juancarlos juggalo420 juggernaut juliana123
        jundian2011xr justforfun justinbieb justinbiebe justinbieber jxfhjdfirf k123456789 k47rizxt2g ka_djkhjsy6
        kalifornia kamehameha kamelia2011 kanmax1994 karakartal kartoffelpuffer kassandra1 katherine1 kbnthfnehf
        kd189nlcih kifj9n7bfu killer1234 kingfisher kinomoto89 kirill1990 kissmyass1 kissmyass2 kittykitty kkkkkkkkkk
        kl?benhavn klapaucius kmzwa8awaa knackwurst8853 knickerless kobebryant komputer12 konstantin kravchenko
        krystyna56 kuana230345 kudos4ever kurtcobain kwiatuszek l123456789 l6ho3tg7wb ladiesman1 ladyffesta lamborghini
        lamborgini laurel12creek leavemealone lebronjame ledzeppelin left4dead2 leliane50934 leolong1985 letmein123
        letmeinnow lfplhfgthvf lhbjkjubz2957704 lifeisgood lighthouse lightning1 lightning2 lightpower12345 lightsaber
        lilwayne12 limegreen1 limpbizkit linkedin11 linkedin123 linkedin2011 linkinpark lionheart1 littlebear littlebit1
        littlegirl littleman1 littleminge liverpool0 liverpool1 liverpool123 liverpool2 liverpool5 liverpool7 liverpool8
        liverpool9 liverpoolfc livestrong lkjhgfdsa1 lkjhgfdsaz lkjhgfdsazx lockerroom lolipop123 lololyo123 longbeach1
        longhorns1 loploprock losangeles loserface1 lost4815162342 lotrfotr34 love123456 love4ever1 loveforever
        lovehurts1 lovehurts2 loveislife lovelovelove lovelygirl lovemykids lovergirl1 loveu4ever loveyou123 lovezp1314
        lp2568cskt lsia9dnb9y luansantana lucifer666 luckycharm luojianhua lydcc20091314 lytghjgtnhjdcr lzhan16889
        m01759766727 m123456789 m1am1b3ach m6cjy69u35 ma123123123 mackenzie1 madagascar madagaskar madison123 maella1311
        magandaako magdalena1 magical123 mahalkita1 mailcreated5240 makemoney1 mamikawada management manchester
        manchester1 manchesterunited mandarinka mandragora mangust6403 manunited1 mapet123456 mapleleafs maplestory
        maprchem56458 maradona10 marek14michal margarita1 margherita marguerite marijuana1 mario140773 marketing1
        markhegarty marseille1 marseille13 marvel5454 maryjane42 mashamasha massimiliano masterbaiting masterbate
        masterbating mastercard masterchief mastermind masturbation matchbox20 matematica matematika mathematics
        matthew123 mattylad10 matyas2001 maurolarastefy maximilian maximiliano maxmotives mcdonalds1 meatball99
        mechanical mega_pizdetz666 megaparol12345 megasecret melissa123 messenger1 metallica1 metallica2 metallica6
        mevefalkcakk michael123 michaeljac michaeljackson michelle01 michelle11 michelle12 michelle13 michoacan1
        mickeymous mickeymouse microphone microsoft1 midnight12 migrationschool mikejones1 mileycyrus milfhunter
        milkshake1 millennium millerlite millertime minecraft123 minhasenha minicalibra minicooper minnesota1
        minnesota_hp mississipp mississippi mitsubishi mmmmmmmmmm mnbvcxz123 moderncombat momanddad1 momsanaladventure
        moneymaker moneymoney monkey1234 monkeyboy1 monkeybutt monkeyman1 monster123 monstercha montecarlo montgom240
        montgom2409 montgomery moonlight1 moonshine1 morganstanley mortalkombat mostwanted motdepasse motherlode
        motocross1 motorcycle mrf11277215 msorcloledbr multimedia multiplelo multiplelog murcielago music4life
        musiclover mustang123 mv46vkmz10 mylinkedin mypassword myspace.co myspace101 myspace123 myspace200 myspace201
        myspace4me myspacepas n123456789 n8zgt5p0shw= nastya1995 nastya1996 nastya2010 natasha123 nathaniel1
        natiichen999 naughtyboy nccpl25282 necromancer need4speed needforspeed nemvxyheqdd5oqxyxyzi networking
        networkingpe neveragain nevergiveup nevermind1 neverwinter newcastle1 newjersey1 neworleans neworleans12345
        newpasswor newpassword newport100 newproject2004 newthree51 newyork123 newzealand nha7ebf6kp nhecsyfujkjdt
        nhfdvfnjkju123 nhfrnjhbcn nhfycajhvths nicholas12 nickelback nickiminaj nickjonas1 nightcrawler nightmare1
        nightshade nikita1998 nikita2000 nikolaevna nintendo64 nissan350z nks230kjs82 nokia6230i nokiadermo nomeacuerdo
        nondriversig nopassword northside1 nothings123 notredame1 nottingham november10 november11 november12 november13
        november14 november15 november16 november17 november18 november19 november20 november21 november22 november23
        november24 november25 november26 november27 november30 nthvbyfnjh nuaddn9561 nuttertools nyq28giz1z oc247ngucz
        ocpoook325 ohiostate1 ohmnamah23 oks65b6666 olamilekan olanrewaju olcrackmaster oldschool1 oldsmobile olegnaruto
        olo65b6666 omgkremidia onedirection onetwothree ontheoutside ontherocks opensesame opernhaus1 ordinateur
        orochimaru owt243ygbh owt243ygbj p030710p$e4o p0o9i8u7y6 p3rat54797 painkiller paintball1 pakistan12 pakistan123
        pakistan786 panasonic1 pandabear1 pandemonium papichulo1 paraklast1974 parolparol passer2009 passer2010
        passer2011 passmaster password00 password01 password06 password07 password08 password09 password1! password10
        password11 password12 password123 password1234 password12345 password123456 password13 password14 password15
        password16 password17 password18 password19 password20 password21 password22 password23 password24 password25
        password27 password32 password33 password44 password45 password55 password66 password69 password77 password88
        password89 password99 passwordstandard pathfinder patrick123 patriots12 pazzword123 pe#5gz29ptzmse peanutbutter
        penetrating penetration pennstate1 peppermint perfection peternorth peugeot406 pfhfnecnhf phezc419hv philippine
        phoenix888 pimpdaddy1 pimpjuice1 pineapple1 pinkfloyd1 pinkpanther pittsburgh playboy123 playstatio playstation
        playstation2 playstation3 pocahontas poiuytrewq poiuytreza pok29q6666 pokemon123 polarbear1 polniypizdec0211
        polniypizdec1102 polniypizdec110211 polopolo09 poohbear12 poopmaster popcorn123 poptropica porsche911 portishead
        postov1000 pothead420 povlmly727 pqntmt1247 premiumcash president1 prettyboy1 prettygirl primetime21 princesita
        princess01 princess07 princess08 princess09 princess10 princess11 princess12 princess123 princess13 princess14
        princess15 princess16 princess17 princess18 princess19 princess20 princess21 princess22 princess23 princess24
        princess69 principessa priscilla1 prisonbreak production professional projectsadminx prosperity proverbs31
        przyjaciolki psicologia psychnaut1 psychology ptybnxtvgbjy puertorico pufunga7782 punksnotdead puppylove1
        q0tsrbv488 q123456789 q1234567890 q1q2q3q4q5 q1w2e3r4t5 q1w2e3r4t5y6 q1w2e3r4t5y6u7 q1w2e3r4t5y6u7i8
        q1w2e3r4t5y6u7i8o9p0 qawsedrftg qawsedrftgyh qaz123wsx456 qazwsx1234 qazwsx12345 qazwsxedc1 qazwsxedc12
        qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qazxswedc123 qazxswedcvfr qdujvyg5sxa qh6xl1p9xj qiciqdp162 qpwoeiruty
        qq123456789 qqqqqqqqqq qti7zxh18u quality123 quant4307s queenas8151 qugrqfo825 quicksilver quiksilver
        qwaszxerdfcv qwe1122334 qwe1234567 qwe123qwe123 qweasdzxc1 qweasdzxc123 qwegta13091990 qwerasdfzxcv qwert12345
        qwert54321 qwertasdfg qwertasdfgzxcvb qwertgfdsa qwertqwert qwerttrewq qwerty1234 qwerty12345 qwerty123456
        qwerty123456789 qwerty2010 qwertyasdfgh qwertyqwerty qwertyu123 qwertyuio1 qwertyuiop qwertyuiop1 qwertyuiop10
        qwertyuiop12 qwertyuiop123 qwertyuiop12345 qwertyuiop[] qwertyytrewq qwertzuiop r123456789 r3vi3wpass r9lw4j8khx
        radiohead1 rainbow123 rammstein1 randyorton rangerover rbotmvz954 realestate realmadrid reanimator redemption
        redskins21 rememberme remington1 residentevil resing1965 respublika revelation reviewpass revolution rfcgthcrbq
        rfgecnfcerf rfhfrfnbwf rfhfvtkmrf rfkmrekznjh rfnfcnhjaf rfnfgekmnf rfnthbyf1988 rhbcnbyjxrf rhfcyjzhcr
        rhfvfnjhcr richard123 richardson riverplate riverside1 rjhjkmbien rjirfrgbde rjycnbnewbz rjycnfynby rkfdbfnehf
        roadrunner roanne42300 rockandroll rockbottom rockhopper rocknroll1 rockstar12 rodriguez1 roflcopter ronaldinho
        ronaldo123 rubberduck runescape1 runescape2 ryan962052 s123456789 s456123789 s8ylpe9jdpvym sabrina123 sacramento
        sagitarius sailormoon salamander salamandra salmankhan salvation1 samantha12 samsung123 sanandreas sanfrancisco
        santamaria saqartvelo sasha12345 sataniv1993 saun24865709 saxophone1 schokolade schoolgirlie schumacher
        scoobydoo1 scoobydoo2 scooter123 scoubidou2 scoubidou6 scvmofas79 sdf7asdf6asdg8df sebastian1 sebastian106
        seemnemaailm selenagome selfok2013 seminoles1 seniseviyorum sephiroth1 september1 september2 september3
        september7 september8 september9 septiembre serafina14 serendipity sersolution service321 sevastopol sexmachine
        sexpistols sexybeast1 sexyblack1 sexychick1 sexygirl12 sexymama12 shadow1212 shakespeare shamanking shevchenko
        shithappens sidewinder silenthill silverado1 simferopol simpleplan skate4life skateboard skateordie skaterboy1
        skaterdude skittles12 skorpion39 skyliner34 skywalker1 slimshady1 slipknot12 slipknot66 slipknot666 smackdown1
        smallville smokeweed1 snoopdogg1 snowboard1 snowflake1 snusmumrik softball10 softball11 softball12 softball13
        softball14 softball15 softball21 softball22 softball23 sojdlg123aljg solidsnake somanypickles27 something1
        sonnenschein sonyericsson soso123aljg souljaboy1 southpark1 southpole1 southside1 southside2 southside3
        southwest1 spam967888 spartak1922 spartan117 specialinsta spider-man spiderman1 spiderman2 spiderman3 spiderman4
        spiderman7 spionin8688 spongebob0 spongebob1 spongebob2 spongebob3 spongebob7 spongebob9 ss563563ss ssssssssss
        stalingrad stalker123 starbucks1 starburst1 starcraft1 starcraft2 staredobre starlight1 startfinding starwars111
        starwars12 starwarsfan10 statistika steamforums steelers43 stefangreil1983 steflio3123 stephanie1 stephanie2
        stickdaddy77 stinkyfinger stomatolog stonecold1 stratocaster strawberry streetball studioworks studmuffin
        successful sugarbear1 summer2008 summer2010 summertime sundaypunch sunderland sunflower1 sunshine01 sunshine10
        sunshine11 sunshine12 sunshine13 sunshine21 sunshine22 sunshine23 sunshine69 superduper supergirl1 superman01
        superman10 superman11 superman12 superman123 superman13 superman21 superman22 superman23 superman69 supermanboy
        supermario supernatural supernova1 superpuper supersonic superstar1 superstar2 supervisor superwoman svetasveta
        sweetangel sweetdream sweetheart sweetiepie sweetness1 swordfish1 sylvester1 syncmaster systemofadown sz9kqcctwy
        t123456789 t34vfrc1991 table54781 tadmichaels taekwondo1 taishan2011 tamwsn3sja tdfyutkbjy teamomucho technology
        teddybear1 teddybear2 telecaster telechargement telephone1 television temppassword tennessee1 teonamaria1
        terminator testing123 thebears12 thebeatles thecakeisalie thegreat123 thirteen13 thugstools thunderbird
        ticketmaster tiffany123 tigerwoods timberlake timberland timberwolf tinkerbel1 tinkerbell tinkerbell1 tnk0mk16vx
        tokiohotel tombrady12 tombraider total12scherz tottenham1 toulouse31 trackstar1 transexual transforme
        transformers translator trapdoor60 triskelion trustnoone ttd955audg tupacshakur tuputamadre tweetybird
        twilight12 ty2t1hv3oc tzir25l5kn u1v7hhh7ef ublhjgjybrf ufhhbgjnnth uhfybn8888 ujkjdjkjvrf ukflbfnjh12
        uncencored undercover underground underoath1 undertaker underworld unforgiven universal1 university uqa9ebw445
        uvgx8f8232 v123456789 vaffanculo valentina1 valentine1 vanessa123 vanyarespekt vascorossi vbhjndjhtw venom121293
        verygoodbot vfhbjk1801 vfhbyfvfhbyf vfhufhbnrf vfhvtkflrf vflfufcrfh vfntvfnbrf vfrcbvvfrcbv vfvfgfgf123
        vfvfvskfhfve vfylfhbyrf victoria12 viewsonic1 villanueva viphv5j736 virtuagirl virtue1234 vitor1268123
        vladimirovna vladislava volkswagen volleyball vqsablpzla vrbgqns997 vsjasnel12 vyjujnjxbt w123456789 w2dlww3v5p
        w5tn36alfw w5txn36alfw w66yrybgra wachtwoord walkman555 wallstreet warhammer1 warhammer40k washington waterfall1
        watermelon wazzkaprivet wcrfxtvgbjy webhompass websolutions websolutionssu webuivalidat wednesday1 weihnachte
        weihnachten weihnachtsbau weihnachtsbaum welcome123 wellington wenef45313 weronika1992 westcoast1 westside13
        wethepeople weyersheim whatever12 whatthehell whatthezor whitepower whitetiger whosyourdaddy william123
        william2631 winchester winnipeg261 wishmaster woaini1314 wolverine1 wonderful1 wonderland wonderwall wonderwoman
        woodstock1 wpcakir264 wrasloco11 wrestling1 writerspace wsbe279qsg x3luym2mmj x4ivyga51f x99qomx561 xantria10315
        xblhintb9w xiang123456 xiaoyua123 xige5516726 xpressmusic xtseo2011tdx xxxp455w0rd5 xxxxxxxxxx y6p67ftrqj
        yagjecc826 yandi20080527 yanshi1982 yaoiisgrand ybrjkftdbx ybrjkftdyf yellowcard yemi19900911 yfcnzyfcnz
        yfdbufnjh10305070 yfdbufnjh63 yfnfitymrf yggdrasil4 yjdsqgfhjkm youngmoney yourmom123 yu5l97wk8q yuantuo2012
        z0102030405 z123456789 z1x2c3v4b5 z1x2c3v4b5n6m7 zacatecas1 zaq1xsw2cde3 zaqwsxcderfv zaratustra zcfvfzkexifz
        zcxfcnkbdf zcxfcnkbdfz zjses9evpa zmx870919123 zqjphsyf6ctifgu zx123456789 zxcasdqwe123 zxcvb12345 zxcvbasdfg
        zxcvbn123456 zxcvbnm123 zxcvbnm123456789 zzzzzzzzzz
        """
}
