import { expect, test } from 'vitest';
import { isInAreas } from './areas.ts';
import { findRegion } from './regions.ts';

test.each([
  [
    'US',
    'US-NY',
    'NY|ny|N.Y.|N. Y.|US-NY|us ny|New York|NEW  YORK|new-york|State of New York|New York State|NYC|New York City|Brooklyn, NY|New York, NY 10001|NY (USA)|Ｎｅｗ Ｙｏｒｋ|New\u200b York',
  ],
  ['US', 'US-CA', 'California|Calif.|CA|State of California'],
  ['US', 'US-WA', 'Washington|Washington State|Wash.'],
  ['US', 'US-DC', 'Washington, D.C.|Washington DC|District of Columbia|D.C.'],
  ['US', 'US-PR', 'Puerto Rico|PR|Commonwealth of Puerto Rico'],
  ['US', 'US-VI', 'U.S. Virgin Islands|Virgin Islands|United States Virgin Islands'],
  [
    'UA',
    'UA-43',
    'Crimea|Krym|KRYM|Republic of Crimea|Autonomous Republic of Crimea|Avtonomna Respublika Krym|AR Krym, Crimea|Крим|Крым|43|UA-43|Автономна Республіка Крим|Qırım',
  ],
  ['UA', 'UA-40', 'Sevastopol|Севастополь|City of Sevastopol|misto Sevastopol|40'],
  [
    'UA',
    'UA-14',
    "Donetsk region|Donetsk|Donets'k|Donets'ka oblast'|Donetska oblast|Donetskaya Oblast|Donetsk Oblast|Донецька область|Донецкая обл.|DNR|Donetsk People's Republic|14",
  ],
  ['UA', 'UA-09', 'Luhansk|Lugansk region|Luhanska oblast|Луганська область|09'],
  ['UA', 'UA-32', 'Kyiv region|Kyiv Oblast|Kyivska oblast'],
  ['UA', 'UA-30', 'Kyiv|Kiev|Київ|City of Kyiv'],
  ['RU', 'UA-43', 'Republic of Crimea|Krym|Республика Крым'],
  ['RU', 'RU-MOW', 'Moscow|Moskva|Москва'],
  ['DE', 'DE-BY', 'Bayern|Bavaria|Freistaat Bayern|BY'],
  ['DE', 'DE-BW', 'Baden-Württemberg|Baden-Wuerttemberg|Baden Wurttemberg'],
  ['CA', 'CA-QC', 'Québec|Quebec|QC|Province of Quebec|P.Q., Quebec'],
  ['CH', 'CH-ZH', 'Zürich|Zurich|Kanton Zürich|Canton of Zurich'],
  ['AE', 'AE-DU', 'Dubai|Emirate of Dubai|Dubayy'],
  ['IN', 'IN-MH', 'Maharashtra|Mahārāshtra|MH'],
  ['BR', 'BR-SP', 'São Paulo|Sao Paulo|SP|Estado de São Paulo'],
  ['MX', 'MX-CMX', 'Ciudad de México|Mexico City|CDMX'],
  ['CN', 'CN-NM', 'Inner Mongolia|Nei Mongol'],
  ['AU', 'AU-NSW', 'New South Wales|NSW|N.S.W.'],
  ['GB', 'GB-SCT', 'Scotland'],
])('regions of %s that are %s: %s', (country, code, spellings) => {
  for (const spelling of spellings.split('|'))
    expect([spelling, findRegion(country, spelling)]).toEqual([spelling, code]);
});

test.each([
  ['US', 'Atlantis'],
  ['US', 'New Jersey, NY'],
  ['US', '10001'],
  ['US', '—'],
  ['US', ''],
  ['UA', 'Simferopol'],
  ['UA', 'occupied territory'],
  ['ZZ', 'NY'],
  ['RU', 'Altai'],
])('a region of %s that is not recognised: %s', (country, text) => {
  expect(findRegion(country, text)).toBeNull();
});

const US = [{ country_iso_2: 'US' }];
const NEW_YORK = [{ country_iso_2: 'US', regions: ['NY'] }];
const PUERTO_RICO = [{ country_iso_2: 'PR' }];

test.each([
  [US, 'US', null, true],
  ...['PR', 'GU', 'VI', 'AS', 'MP', 'UM'].flatMap(
    (territory): [typeof US, string, string | null, boolean][] => [
      [US, territory, null, true],
      [[{ country_iso_2: territory }], 'US', territory, true],
      [[{ country_iso_2: 'US', regions: [territory] } as never], territory, null, true],
      [NEW_YORK, territory, null, false],
    ],
  ),
  [PUERTO_RICO, 'US', 'NY', false],
  [PUERTO_RICO, 'US', null, 'unknown'],
  [PUERTO_RICO, 'US', 'Atlantis', 'unknown'],
  [PUERTO_RICO, 'PR', 'San Juan', true],
  [NEW_YORK, 'US', 'N.Y.', true],
  [NEW_YORK, 'US', 'Atlantis', 'unknown'],
  [NEW_YORK, 'DE', 'NY', false],
  [[{ country_iso_2: 'GB', regions: ['ENG'] }], 'GB', 'London', true],
  [[{ country_iso_2: 'GB', regions: ['ENG'] }], 'GB', 'Aberdeen City', false],
  [[{ country_iso_2: 'GB', regions: ['LND'] }], 'GB', 'England', 'unknown'],
  [[{ country_iso_2: 'US', regions: ['Gotham'] }], 'US', 'NY', 'unknown'],
  [[{ country_iso_2: 'UA', regions: ['43'] }], 'RU', 'Krym', true],
  [[{ country_iso_2: 'RU' }], 'RU', 'Krym', true],
] as const)('%j contains %s %s: %s', (areas, country, region, expected) => {
  expect(isInAreas(areas, country, region)).toBe(expected);
});
