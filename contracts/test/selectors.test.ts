import { type Abi, toEventSelector, toFunctionSelector, toFunctionSignature } from 'viem';
import { describe, expect, it } from 'vitest';
import { fundSwap } from '../abi/fund-swap.ts';
import { fundSwapV1 } from '../abi/fund-swap-v1.ts';
import { saleFund } from '../abi/sale-fund.ts';
import { tokenizedSwap } from '../abi/tokenized-swap.ts';
import { venueConverter } from '../abi/venue-converter.ts';
import { venueHours } from '../abi/venue-hours.ts';
import { venueLimiter } from '../abi/venue-limiter.ts';
import { venueManager } from '../abi/venue-manager.ts';
import { venueOracle } from '../abi/venue-oracle.ts';
import { venueRegistry } from '../abi/venue-registry.ts';

/**
 * Maps each function's signature to its selector, each error's name to its selector, and each event's name to its
 * topic.
 */
function selectorsOf(abi: Abi): Map<string, string> {
  return new Map(
    abi.flatMap((item) => {
      if (item.type === 'event') return [[item.name, toEventSelector(item)]];
      if (item.type === 'error')
        return [
          [
            item.name,
            toFunctionSelector({ ...item, type: 'function', outputs: [], stateMutability: 'view' }),
          ],
        ];
      return item.type === 'function' ? [[toFunctionSignature(item), toFunctionSelector(item)]] : [];
    }) as [string, string][],
  );
}

const quote = '(uint256,uint256,bytes32,address,uint256,uint256,uint256,uint8,bytes32)';
const allowSwap: Record<string, string> = {
  'preview(address,uint256)': '0x13ce19e3',
  'outputToken()': '0xc1d8d1d9',
  'authorized(address)': '0xb9181611',
  'stopped()': '0x75f12b21',
  'SWAP_LEVEL()': '0x81956de9',
  'swap(address,uint256,uint256)': '0x9f1d0f59',
  Swapped: '0xc9163c3bdf7263acf1bb3d24072cc7da025f7181c31e2edc7e1673edf5e0ca32',
};

const expected: [string, Abi, Record<string, string>][] = [
  [
    'SaleFund',
    saleFund.abi,
    {
      'commit(address,bytes32,address,uint256)': '0xf79a7d23',
      'commit(address[],bytes32[],address[],uint256[])': '0xa524133b',
      'remit(address,bytes32,address,uint256)': '0xf307ee64',
      'remit(address[],bytes32,address,uint256[])': '0xdc5d54f0',
      'commitBalance(address,bytes32,address)': '0x5e1ab399',
      'totals(address,bytes32,address)': '0xd3728402',
      'minCommit()': '0x2bcbf7cd',
      CommitFailed: '0x50029b7f',
      InvalidUser: '0xfd684c3b',
      InsufficientAmount: '0x6d400e38',
      IsStopped: '0xd05c7c78',
      Unauthorized: '0x82b42900',
      NonEquivalentListLength: '0xe18ab65f',
      InsufficientCommitment: '0xa9e58107',
      Committed: '0xaadbe976366eee8ef2d5a1c92af7def1a11078360295aba675fd6adadfde121d',
      Remitted: '0x5fbc99197b0b0ca60a36baeda1d928d3f0eac69d875493487112e17e8e08fd45',
      BatchFail: '0x03fffab05152416945f1e3abb3cca0c443e73b191bba45472b0234259e54dc12',
      Batched: '0x69ce6e946746fbcb19a95df06905cd42f136479e13f7f5b3d31240538bef3390',
    },
  ],
  ['FundSwapV1', fundSwapV1.abi, allowSwap],
  ['FundSwap', fundSwap.abi, { ...allowSwap, 'paused()': '0x5c975abb', 'status()': '0x200d2ed2' }],
  [
    'TokenizedSwap',
    tokenizedSwap.abi,
    {
      [`swap(${quote},bytes,address,uint256,bytes)`]: '0x5dcce09f',
      'totals(address,address,address)': '0x4397cf94',
      'domainSeparator()': '0xf698da25',
      'fee(uint8,uint256)': '0x3de2bdd1',
      Swapped: '0xed16f185c3a00feb3f10831b5798e60555d44ff78d2ea3af48abc70ed48ac35c',
      IsStopped: '0xd05c7c78',
      IsPaused: '0x7f218813',
      Unauthorized: '0x82b42900',
      InvalidAmount: '0x2c5211c6',
      InsufficientAmount: '0x5945ea56',
      SwapFailed: '0xfe6bbaf9',
      InvalidAddress: '0xe6c4247b',
    },
  ],
  [
    'VenueManager',
    venueManager.abi,
    {
      [`mintWithAttestation(${quote},bytes,address,uint256)`]: '0x445df08b',
      [`redeemWithAttestation(${quote},bytes,address,uint256)`]: '0x6eefea49',
      'getDomainSeparator()': '0xed24911d',
      'hasRole(bytes32,address)': '0x91d14854',
      'executedAttestationIds(uint256)': '0x50aaef5a',
      'globalMintingPaused()': '0xeb27fa53',
      'gmTokenAccepted(address)': '0x5c0478d1',
      'globalRedeemingPaused()': '0x8c6f4ab7',
      'minimumDepositUSD()': '0x531acc13',
      'gmTokenMintingPaused(address)': '0x6269ff8f',
      'minimumRedemptionUSD()': '0x8f8eb812',
      'gmTokenRedemptionsPaused(address)': '0xb28996b5',
      'usdon()': '0xbd5d370c',
      'usdonManager()': '0x4f23c343',
      'sanityCheckOracle()': '0x5010af4d',
      'ondoIDRegistry()': '0xc768b145',
      TradeExecuted: '0xdfe4debbd7bc491e9db43820916e30a4ef9490863fc22b1e79e2f76013901035',
      AttestationExpired: '0x716dcc39',
      AttestationAlreadyExecuted: '0x468752d8',
      InvalidAttestationSigner: '0x127a982d',
      InvalidChainId: '0x7a47c9a2',
      InvalidQuoteSide: '0x9ac721e4',
      UserIdMismatch: '0xe9167b86',
      UserNotRegistered: '0x2163950f',
      GMTokenNotRegistered: '0x26b5ecf3',
      DepositAmountTooSmall: '0x67627d07',
      RedemptionAmountTooSmall: '0xd0022dba',
      GlobalMintsPaused: '0xc614adcc',
      GlobalRedemptionsPaused: '0xf162f686',
      GMTokenMintsPaused: '0x01c962ea',
      GMTokenRedemptionsPaused: '0x877009f3',
      USDonManagerNotEnabled: '0xcdce50bd',
      TokenAddressCantBeZero: '0x885ce5f1',
    },
  ],
  ['VenueRegistry', venueRegistry.abi, { 'getRegisteredID(address,address)': '0x7f190771' }],
  [
    'VenueOracle',
    venueOracle.abi,
    {
      'prices(address)': '0xcfed246b',
      PriceOutOfRange: '0x37c8a83c',
      StalePrice: '0x19abf40e',
      PriceNotSet: '0x27515afa',
    },
  ],
  [
    'VenueLimiter',
    venueLimiter.abi,
    {
      RateLimitExceeded: '0xa74c1c5f',
      GlobalRateLimitNotSet: '0xfc674000',
      DefaultUserRateLimitNotSet: '0x0868a19c',
    },
  ],
  ['VenueHours', venueHours.abi, { OutsideMarketHours: '0x6e961a0e' }],
  [
    'VenueConverter',
    venueConverter.abi,
    {
      InsufficientUSDonReceived: '0x72d77b08',
      InsufficientStablecoinReceived: '0x3e7919fe',
      StablecoinPriceBelowMinimum: '0xd4266859',
      OraclePriceOutdated: '0x48afc38e',
      InvalidDepositToken: '0x00de0807',
      InvalidReceivingToken: '0xc54d817b',
    },
  ],
];

describe.each(expected)('%s', (_name, abi, entries) => {
  it('has the selectors and topics of the deployed contracts', () => {
    const present = selectorsOf(abi);
    expect(Object.fromEntries(Object.keys(entries).map((name) => [name, present.get(name)]))).toEqual(
      entries,
    );
  });
});

describe('events', () => {
  const indexed = (abi: Abi, name: string) =>
    abi.flatMap((item) =>
      item.type === 'event' && item.name === name ? item.inputs.map((input) => input.indexed) : [],
    );

  it('index the arguments that readers filter by', () => {
    expect(indexed(saleFund.abi, 'Committed')).toEqual([true, true, true, false]);
    expect(indexed(saleFund.abi, 'Remitted')).toEqual([true, true, true, false]);
    expect(indexed(saleFund.abi, 'BatchFail')).toEqual([false, true, true, true, false]);
    expect(indexed(fundSwap.abi, 'Swapped')).toEqual([true, true, true, false, false, false]);
    expect(indexed(tokenizedSwap.abi, 'Swapped')).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(new Set(indexed(venueManager.abi, 'TradeExecuted'))).toEqual(new Set([false]));
  });
});
