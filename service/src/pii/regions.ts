/** Regions that offers distinguish: ISO 3166-2 code (without the country) and name. */
const TABLE: Record<string, string> = {
  US: `AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|
    DC District of Columbia|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|
    KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|
    MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|
    NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|
    SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|
    WV West Virginia|WI Wisconsin|WY Wyoming|PR Puerto Rico|GU Guam|AS American Samoa|MP Northern Mariana Islands`,
  CA: `AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NS Nova Scotia|
    NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|SK Saskatchewan|YT Yukon`,
  UA: `43 Crimea|43 Autonomous Republic of Crimea|43 Avtonomna Respublika Krym|40 Sevastopol|14 Donetsk|
    14 Donetsk Oblast|14 Donetska oblast|09 Luhansk|09 Luhansk Oblast|09 Luhanska oblast`,
};

const CODES = new Map<string, string>(
  Object.entries(TABLE).flatMap(([country, regions]) =>
    regions.split('|').map((entry): [string, string] => {
      const [code = '', ...words] = entry.trim().split(' ');
      return [`${country} ${fold(words.join(' '))}`, fold(code)];
    }),
  ),
);

/** Normalises a region: `us-ny`, `NY` and `New York` have the same key. Unknown regions are compared by text. */
export function regionKey(country: string, region: string): string {
  const text = fold(region).replace(new RegExp(`^${country.toLowerCase()}[- ]`), '');
  return CODES.get(`${country} ${text}`) ?? text;
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[\s.,]+/g, ' ')
    .trim();
}
