import { CHAIN_NAMES, type ChainName, EVM_CHAIN_NAMES } from '../chains.ts';
import { integer, urlList } from './parsers.ts';
import { setting } from './setting.ts';

const chains = CHAIN_NAMES.map((chain) => {
  const description = `RPC URLs of \`${chain}\`, comma-separated, in order of preference. Configure at least two providers in production. Without a URL, the chain is not supported, and a node refuses to start while its operator key has open transactions there.`;
  const options = /sepolia|devnet/.test(chain) ? { defaultNote: 'an embedded chain' } : {};
  return [`RPC_URL_${chain.toUpperCase()}`, setting(urlList, description, options)] as const;
});

export const CHAINS = Object.fromEntries(chains) as Record<
  `RPC_URL_${Uppercase<ChainName>}`,
  (typeof chains)[number][1]
>;

const feeCaps = EVM_CHAIN_NAMES.map((chain) => {
  const description = `Replaces \`OPERATOR_MAX_FEE_GWEI\` on \`${chain}\`.`;
  return [
    `OPERATOR_MAX_FEE_GWEI_${chain.toUpperCase()}`,
    setting(integer(1, 1_000_000), description, {}),
  ] as const;
});

const FEE_CAPS = Object.fromEntries(feeCaps) as Record<
  `OPERATOR_MAX_FEE_GWEI_${Uppercase<(typeof EVM_CHAIN_NAMES)[number]>}`,
  (typeof feeCaps)[number][1]
>;

export const SETTLEMENT = {
  OPERATOR_MAX_FEE_GWEI: setting(
    integer(1, 1_000_000),
    'The maximum fee per unit of gas that the operator pays, in gwei.',
    { default: '500' },
  ),
  OPERATOR_MAX_TIP_GWEI: setting(
    integer(0, 1_000_000),
    'The maximum tip per unit of gas that the operator pays to block producers, in gwei.',
    { default: '10' },
  ),
  OPERATOR_DAILY_LIMIT_MILLIETHER: setting(
    integer(1, 999_999_999),
    'The maximum that the operator spends on gas per chain in 24 hours, in thousandths of an ether. At the limit, settlement pauses and raises the alert `daily_limit`.',
    { default: '20000' },
  ),
  SOLANA_MAX_PRIORITY_FEE: setting(
    integer(0, 999_999_999),
    'The maximum price per compute unit that the operator pays on Solana, in millionths of a lamport. A commit uses about 2,000 units, a refund 20,000. While the market price is higher, the operator pays this maximum, which may delay settlement, and raises the alert `fee_cap`.',
    { default: '1000000' },
  ),
  SOLANA_RECEIPT_DAYS: setting(
    integer(7, 3_650),
    'How many days `causeway solana close` keeps the receipts of settled participations. Must exceed the age of every backup that could be restored: without its receipt, a restored participation would be settled again.',
    { default: '30' },
  ),
  PENDING_TTL_HOURS: setting(
    integer(1, 8_760),
    'How many hours a participation may wait for its commit. After that it fails, because the user may no longer want it.',
    { default: '24' },
  ),
  REFUND_DAILY_LIMIT_USD: setting(
    integer(0, 999_999_999),
    "How much one person, identified by the OS user who runs the command, may refund in 24 hours, in US dollars. Above that, `participation remit` and `offer refund` store a request that another OS user must confirm with `causeway participation confirm`. Set the limit on the nodes: commands apply the lowest limit that nodes had in the last 24 hours, so a command's own environment can only lower it.",
    { defaultNote: 'no limit' },
  ),
  SETTLEMENT_QUORUM_USD: setting(
    integer(0, 999_999_999),
    'Participations above this amount, in US dollars, end only when two RPC providers agree on the outcome. URLs whose hosts end in the same two labels, such as `example.com`, count as one provider unless they name different providers: `https://node.example/#provider=NAME`. Has no effect on chains with a single provider.',
    { default: '1000' },
  ),
  RECONCILE_INTERVAL_MINUTES: setting(
    integer(1, 1_440),
    'How often, in minutes, the service compares the funds on every chain with the database. A difference pauses the affected offer and raises the alert `unreconciled`.',
    { default: '15' },
  ),
  ...FEE_CAPS,
};
