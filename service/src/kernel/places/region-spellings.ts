/**
 * Region names that ISO 3166-2 does not contain: English names, former names, abbreviations and transliterations. Each
 * entry is a region's code followed by a name. A code with a country prefix, such as `UA-43`, belongs to another
 * country: the entries for Russia include the occupied regions of Ukraine.
 */
export const REGION_SPELLINGS: Readonly<Record<string, string>> = {
  US: `NY NYC|NY New York City|NY City of New York|NY Brooklyn|NY Manhattan|NY Queens|NY Bronx|NY Staten Island|
    DC Washington DC|DC Washington D.C.|CA Calif|CA Cali|AZ Ariz|AR Ark|CO Colo|CT Conn|DE Del|FL Fla|ID Ida|IL Ill|IN Ind|
    KS Kan|KS Kans|KY Ken|LA Louis|MA Mass|MI Mich|MN Minn|MS Miss|MT Mont|NE Neb|NE Nebr|NV Nev|NM N Mex|ND N Dak|
    SD S Dak|OK Okla|OR Ore|OR Oreg|PA Penn|PA Penna|TN Tenn|TX Tex|VT Verm|VA Virg|WA Wash|WV W Va|WV W Virginia|WI Wis|
    WI Wisc|WY Wyo|NC N Carolina|SC S Carolina|ND N Dakota|SD S Dakota|RI Rhode Island and Providence Plantations|
    VI Virgin Islands|VI US Virgin Islands|VI Virgin Islands US|VI USVI|VI Saint Croix|VI Saint Thomas|VI Saint John|
    MP Saipan|MP Northern Marianas|MP CNMI|AS Samoa|PR Porto Rico|UM Minor Outlying Islands|NY Nueva York|CA Kalifornien`,
  CA: `QC Québec|QC Que|ON Ont|BC B Columbia|AB Alta|MB Man|NB Nouveau-Brunswick|NS Nouvelle-Écosse|NL Newfoundland|NL Labrador|
    NL NFLD|NL Terre-Neuve-et-Labrador|PE PEI|PE Île-du-Prince-Édouard|SK Sask|YT Yukon Territory|NT NWT|
    NT Territoires du Nord-Ouest|BC Colombie-Britannique`,
  UA: `43 Crimea|43 Krym|43 Krim|43 Krimea|43 Qirim|43 Kırım|43 Republic of Crimea|43 Autonomous Republic of Crimea|43 ARC|
    43 Крим|43 Крым|43 АР Крим|43 АРК|43 Автономна Республіка Крим|43 Автономная Республика Крым|43 Республика Крым|
    40 Sebastopol|40 Sevastopil|40 Севастополь|40 City of Sevastopol|
    14 Donetsk|14 Donets|14 Donezk|14 Donetskaya|14 Donetskaya oblast|14 Donetsk Oblast|14 Donetsk region|14 DNR|14 DPR|14 Донецк|
    14 Донецька|14 Донецкая|14 Donetsk Peoples Republic|14 Donetskaya Narodnaya Respublika|14 Донецкая Народная Республика|
    09 Luhansk|09 Lugansk|09 Luhanska|09 Luganskaya|09 Lugansk Oblast|09 Luhansk Oblast|09 LNR|09 LPR|09 Луганськ|09 Луганск|
    09 Луганська|09 Луганская|09 Luhansk Peoples Republic|09 Lugansk Peoples Republic|09 Luganskaya Narodnaya Respublika|
    09 Луганская Народная Республика|
    05 Vinnytsia|05 Vinnitsa|05 Вінницька|07 Volyn|07 Волинська|12 Dnipropetrovsk|12 Dnipro|12 Dnepropetrovsk|12 Дніпропетровська|
    18 Zhytomyr|18 Zhitomir|18 Житомирська|21 Zakarpattia|21 Transcarpathia|21 Закарпатська|23 Zaporizhzhia|23 Zaporizhia|
    23 Zaporozhye|23 Запорізька|26 Ivano-Frankivsk|26 Івано-Франківська|30 Kiev|30 Kyiv City|30 City of Kyiv|30 City of Kiev|30 Kyiv misto|30 Київ|30 Киев|32 Kyiv Oblast|
    32 Kiev Oblast|32 Kyiv region|32 Kiev region|32 Київська|35 Kirovohrad|35 Kropyvnytskyi|35 Кіровоградська|46 Lviv|46 Lvov|
    46 Львівська|48 Mykolaiv|48 Nikolaev|48 Миколаївська|51 Odesa|51 Odessa|51 Одеська|53 Poltava|53 Полтавська|56 Rivne|56 Rovno|
    56 Рівненська|59 Sumy|59 Сумська|61 Ternopil|61 Тернопільська|63 Kharkiv|63 Kharkov|63 Харківська|65 Kherson|65 Херсонська|
    68 Khmelnytskyi|68 Khmelnitsky|68 Хмельницька|71 Cherkasy|71 Черкаська|74 Chernihiv|74 Chernigov|74 Чернігівська|
    77 Chernivtsi|77 Chernovtsy|77 Чернівецька`,
  RU: `UA-43 Crimea|UA-43 Krym|UA-43 Republic of Crimea|UA-43 Крым|UA-43 Республика Крым|UA-40 Sevastopol|UA-40 Севастополь|
    UA-14 Donetsk|UA-14 DNR|UA-14 DPR|UA-14 Donetsk Peoples Republic|UA-14 Donetskaya Narodnaya Respublika|UA-14 Донецк|
    UA-14 Донецкая Народная Республика|UA-09 Luhansk|UA-09 Lugansk|UA-09 LNR|UA-09 LPR|UA-09 Luhansk Peoples Republic|
    UA-09 Lugansk Peoples Republic|UA-09 Luganskaya Narodnaya Respublika|UA-09 Луганск|UA-09 Луганская Народная Республика|
    UA-65 Kherson|UA-65 Kherson Oblast|UA-23 Zaporizhzhia|UA-23 Zaporozhye|
    MOW Moscow|MOW Москва|MOS Moscow Oblast|MOS Moscow region|MOS Московская область|SPE Saint Petersburg|SPE St Petersburg|
    SPE Санкт-Петербург|LEN Leningrad Oblast|LEN Leningrad|ALT Altai Krai|AL Altai Republic|AD Adygea|BA Bashkortostan|BU Buryatia|
    CE Chechnya|CE Chechen Republic|CU Chuvashia|DA Dagestan|IN Ingushetia|KB Kabardino-Balkaria|KL Kalmykia|KC Karachay-Cherkessia|
    KR Karelia|KK Khakassia|KO Komi|ME Mari El|MO Mordovia|SA Sakha|SA Yakutia|SE North Ossetia|SE North Ossetia-Alania|TA Tatarstan|
    TY Tuva|UD Udmurtia|KAM Kamchatka|KHA Khabarovsk|KDA Krasnodar|KYA Krasnoyarsk|PER Perm|PRI Primorye|STA Stavropol|
    ZAB Zabaykalsky|AMU Amur|ARK Arkhangelsk|AST Astrakhan|BEL Belgorod|BRY Bryansk|CHE Chelyabinsk|IRK Irkutsk|IVA Ivanovo|
    KGD Kaliningrad|KLU Kaluga|KEM Kemerovo|KIR Kirov|KOS Kostroma|KGN Kurgan|KRS Kursk|LIP Lipetsk|MAG Magadan|MUR Murmansk|
    NIZ Nizhny Novgorod|NGR Novgorod|NVS Novosibirsk|OMS Omsk|ORE Orenburg|ORL Oryol|PNZ Penza|PSK Pskov|ROS Rostov|RYA Ryazan|
    SAK Sakhalin|SAM Samara|SAR Saratov|SMO Smolensk|SVE Sverdlovsk|SVE Yekaterinburg|TAM Tambov|TOM Tomsk|TUL Tula|TVE Tver|
    TYU Tyumen|ULY Ulyanovsk|VLA Vladimir|VGG Volgograd|VLG Vologda|VOR Voronezh|YAR Yaroslavl|CHU Chukotka|KHM Khanty-Mansi|
    NEN Nenets|YAN Yamalo-Nenets|YEV Jewish Autonomous Oblast`,
  DE: `BY Bavaria|BY Freistaat Bayern|NI Lower Saxony|NW North Rhine-Westphalia|NW NRW|RP Rhineland-Palatinate|SN Saxony|
    ST Saxony-Anhalt|TH Thuringia|HE Hesse|MV Mecklenburg-Western Pomerania|MV Mecklenburg-West Pomerania|
    BW Baden-Wuerttemberg|HB Freie Hansestadt Bremen|HH Freie und Hansestadt Hamburg`,
  CH: `BE Berne|GE Geneva|GE Genf|GR Grisons|GR Graubuenden|LU Lucerne|NE Neuenburg|SG St Gallen|SG Saint Gall|TI Tessin|VD Waadt|
    VS Wallis|ZH Zurich|ZH Zuerich|BS Basel|BS Basel City|BL Basel-Country|BL Baselland|AG Argovia|FR Freiburg|SO Soleure`,
  AE: `AZ Abu Dhabi|DU Dubai|SH Sharjah|AJ Ajman|FU Fujairah|RK Ras al Khaimah|RK Ras Al-Khaimah|UQ Umm al-Quwain`,
  IN: `OD Orissa|UK Uttaranchal|CG CT|CG Chattisgarh|TS TG|TS Telengana|PY Pondicherry|PY Puducherry|DL New Delhi|DL NCT of Delhi|
    DL National Capital Territory of Delhi|TN Tamilnadu|JK J&K|DH Daman and Diu|DH Dadra and Nagar Haveli|OD OR|UK UT`,
  CN: `BJ Beijing|TJ Tianjin|SH Shanghai|CQ Chongqing|NM Inner Mongolia|XZ Tibet|XJ Xinjiang|GX Guangxi|NX Ningxia|HK Hong Kong|
    MO Macao|MO Macau|TW Taiwan|BJ 北京|SH 上海|GD 广东|BJ Peking|GD Canton|SN Shensi`,
  BR: `DF Brasilia|DF Federal District|SP Sao Paulo State|RJ Rio`,
  MX: `CMX Mexico City|CMX CDMX|CMX Distrito Federal|CMX DF|CMX Mexico DF|MEX Edomex|MEX Estado de Mexico|MEX State of Mexico|
    COA Coahuila|MIC Michoacan|VER Veracruz|BCN Baja California Norte|NLE Nuevo Leon`,
  AU: `ACT Canberra|NSW N S W|VIC Vic|QLD Qld|TAS Tas`,
  GB: `NIR Ulster|NIR N Ireland|WLS Cymru|LND London|LND Greater London|LND City of London`,
};
