import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { OfferFileError, parseOfferFile } from './file.ts';

const YAML = `# yaml-language-server: $schema=../docs/offer.schema.json
slug: harbour
type: platform::token_sale
name: Harbour
tagline: A part of the harbour
logo_url: \${assets}/logo.svg
banner_url: \${assets}/banner.svg
asset: harbour
funding_assets: [usd-coin]
partners: [Acme]
options:
  - slug: standard
    price_usd: 1.50
    total_token_supply: 123456789012345678901234567890
    requirements:
      - type: whitelisted_wallet
        details: { max_wallets: 3 }
contracts:
  - chain: ethereum_sepolia
    address: 0xABCDEFabcdef00000000000000000000000000aa
    funding_tokens:
      - asset: usd-coin
        address: 0x0000000000000000000000000000000000000001
`;

const read = (text: string) =>
  parseOfferFile(text, { name: 'harbour.yaml', variables: { assets: 'https://assets.test' } });

function problems(text: string): readonly string[] {
  try {
    read(text);
    return [];
  } catch (error) {
    if (error instanceof OfferFileError) return error.problems;
    throw error;
  }
}

describe('an offer file', () => {
  test('keeps unquoted numbers and addresses exactly as written', () => {
    const file = read(YAML);
    expect(file.options[0]).toMatchObject({
      price_usd: '1.50',
      total_token_supply: '123456789012345678901234567890',
      accreditation_days: 90,
      requirements: [{ type: 'whitelisted_wallet', details: { max_wallets: 3 } }],
    });
    expect(file.contracts[0]?.address).toBe('0xABCDEFabcdef00000000000000000000000000aa');
    expect(file.logo_url).toBe('https://assets.test/logo.svg');
  });

  const cut = (line: string) => YAML.replace(line, '');
  const swap = (from: string, to: string) => YAML.replace(from, to);

  test.each([
    ['a missing field', cut('name: Harbour\n'), /^harbour\.yaml:\d+: name: is required$/],
    ['an unknown field', `${YAML}color: red\n`, /^harbour\.yaml:24: color: is not a known field$/],
    [
      'an unknown type',
      swap('platform::token_sale', 'auction'),
      /^harbour\.yaml:3: type: must be one of platform::token_sale/,
    ],
    ['a slug with capitals', swap('slug: harbour', 'slug: Harbour'), /^harbour\.yaml:2: slug: must match/],
    [
      'a slug that looks like an id',
      swap('slug: harbour', 'slug: 01890000-0000-7000-8000-00000000ffff'),
      /:2: slug: must not look like an id$/,
    ],
    [
      'a price that is not a number',
      swap('1.50', 'cheap'),
      /^harbour\.yaml:13: options\.0\.price_usd: must be a decimal number/,
    ],
    [
      'a price with an exponent',
      swap('1.50', '1e3'),
      /^harbour\.yaml:13: options\.0\.price_usd: must be a decimal number/,
    ],
    [
      'a short address',
      swap('0000aa', '00aa'),
      /^harbour\.yaml:20: contracts\.0\.address: must be 0x and 40/,
    ],
    ['an unknown chain', swap('ethereum_sepolia', 'dogecoin'), /:19: contracts\.0\.chain: must be one of/],
    ['an EVM address on Solana', swap('ethereum_sepolia', 'solana_devnet'), /:20: contracts\.0\.address: /],
    ['a time without a zone', `${YAML}starts_at: 2026-01-01T00:00:00\n`, /:24: starts_at: must match/],
    [
      'a time that does not exist',
      `${YAML}starts_at: 2026-13-01T00:00:00Z\n`,
      /:24: starts_at: is not a valid time/,
    ],
    [
      'an end before the start',
      `${YAML}starts_at: 2026-02-01T00:00Z\nends_at: 2026-01-01T00:00Z\n`,
      /:25: ends_at: must be after starts_at/,
    ],
    [
      'a requirement without its details',
      swap('\n        details: { max_wallets: 3 }', ''),
      /:16: options\.0\.requirements\.0\.details: is required/,
    ],
    [
      'a requirement with the details of another type',
      swap('max_wallets: 3', 'protocol: solana'),
      /requirements\.0\.details\.max_wallets: is required/,
    ],
    [
      'an unknown requirement',
      swap('whitelisted_wallet', 'source_of_funds'),
      /:16: options\.0\.requirements\.0\.type: must be one of/,
    ],
    [
      'a repeated requirement',
      swap(
        '      - type: whitelisted_wallet',
        '      - type: accreditation\n      - type: accreditation\n      - type: whitelisted_wallet',
      ),
      /requirements\.1: accreditation is repeated/,
    ],
    [
      'a repeated option',
      swap('contracts:', '  - slug: standard\ncontracts:'),
      /options\.1\.slug: standard is repeated/,
    ],
    [
      'a funding token that is not a funding asset',
      swap('funding_assets: [usd-coin]', 'funding_assets: [tether]'),
      /funding_tokens\.0\.asset: usd-coin is not one of/,
    ],
    ['a fee on a token sale', `${YAML}fee_bps: 50\n`, /:24: fee_bps: is only allowed for swaps/],
    [
      'a token sale without a tagline',
      cut('tagline: A part of the harbour\n'),
      /tagline: is required for platform::token_sale/,
    ],
    [
      'an allow-list on a token sale',
      swap('    funding_tokens:', '    allow_list: true\n    funding_tokens:'),
      /:21: contracts\.0\.allow_list: is only allowed for swaps/,
    ],
    [
      'a placeholder without a value',
      swap('name: Harbour', `name: $${'{unknown}'}`),
      /\$\{unknown\} has no value; pass --set unknown=VALUE$/,
    ],
    [
      'a region that does not exist, with the closest one',
      swap(
        '      - type: whitelisted_wallet\n        details: { max_wallets: 3 }',
        '      - type: jurisdiction\n        details: { filter_type: reject, filters: [{ country_iso_2: US, regions: [NY, New Yrok] }] }',
      ),
      /:17: options\.0\.requirements\.0\.details\.filters\.0\.regions\.1: New Yrok is not a region of United States.*; did you mean NY \(New York\)\?$/,
    ],
    [
      'a region that is like no other',
      swap(
        '      - type: whitelisted_wallet\n        details: { max_wallets: 3 }',
        '      - type: jurisdiction\n        details: { filter_type: reject, filters: [{ country_iso_2: UA, regions: [Bavaria] }] }',
      ),
      /regions\.0: Bavaria is not a region of Ukraine; use an ISO 3166-2 code without the prefix "UA-"$/,
    ],
    [
      'a country that does not exist',
      swap(
        '      - type: whitelisted_wallet\n        details: { max_wallets: 3 }',
        '      - type: jurisdiction\n        details: { filter_type: allow, filters: [{ country_iso_2: UK }] }',
      ),
      /filters\.0\.country_iso_2: UK is not an ISO 3166-1 country code; did you mean GB\?$/,
    ],
    ['text that the database cannot store', swap('name: Harbour', 'name: "a\\0b"'), /NUL/],
    ['a repeated key', `${YAML}slug: other\n`, /Map keys must be unique/],
    ['invalid YAML', 'slug: [', /harbour\.yaml: /],
    ['YAML that is not an offer', '- a list', /harbour\.yaml:1: body: must be object/],
  ])('with %s is refused with its location', (_what, text, expected) => {
    const found = problems(text);
    expect(found).toContainEqual(expect.stringMatching(expected));
  });

  test.each(['fee_on_transfer', 'rebasing'])(
    'cannot use an asset with %s transfers for funding',
    (transfers) => {
      const text = `${YAML}assets: { usd-coin: { code: USDC, name: USD Coin, fractional_digits: 6, transfers: ${transfers} } }\n`;
      expect(problems(text)).toEqual([
        `harbour.yaml:9: funding_assets.0: usd-coin cannot fund an offer: its transfers are "${transfers}", not "exact"`,
      ]);
    },
  );

  test('of a tokenized swap needs a symbol, a fee, an asset and exactly one option', () => {
    const file = tokenizedFile();
    const [option] = file.options;
    const [contract] = file.contracts;
    const wrong = {
      ...file,
      symbol: null,
      fee_bps: null,
      options: [option, { ...option, slug: 'second' }],
      contracts: [{ ...contract, asset_address: null }],
    };
    expect(problems(stringify(wrong)).map((problem) => problem.replace(/^[^ ]* /, ''))).toEqual([
      'symbol: is required for tokenized::swap',
      'fee_bps: is required for tokenized::swap',
      'options.1: a swap has exactly one option',
      'contracts.0.asset_address: is required for tokenized::swap',
    ]);
  });

  test('with an allow-list cannot have options with different requirements', () => {
    const file = tokenizedFile();
    const [option] = file.options;
    const [contract] = file.contracts;
    const strict = { ...option, slug: 'strict', requirements: [{ type: 'kyc_approved' }] };
    const wrong = { ...file, options: [option, strict], contracts: [{ ...contract, allow_list: true }] };
    expect(problems(stringify(wrong))).toContainEqual(
      expect.stringMatching(/: options: must all have the same requirements/),
    );
  });

  test('reports all problems at once', () => {
    expect(problems(stringify({ ...saleFile(), slug: 'A', type: 'B', color: 'red' }))).toHaveLength(3);
  });
});
