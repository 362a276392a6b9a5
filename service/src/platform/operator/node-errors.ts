import { NodeError } from '../chain/rpc/failures.ts';

/** If a transaction keeps being rejected with `other`, an operator must act. */
export type Rejection = 'already_known' | 'nonce_used' | 'fee_too_low' | 'insufficient_funds' | 'other';

/**
 * Prefixes of nodes' error messages in lowercase, grouped by what they mean. A message matches a phrase if it starts
 * with the phrase, in upper or lower case, and the next character is not a letter. Error codes are not enough, because
 * most clients use -32000 for all of these errors. `node-errors.test.ts` contains recorded messages.
 */
const PHRASES: Record<Exclude<Rejection, 'other'>, readonly string[]> = {
  already_known: [
    'already known', // geth, erigon, reth
    'alreadyknown', // nethermind
    'known transaction', // besu, hardhat
    'transaction already known', // EDR
    'transaction already imported', // openethereum and gateways
  ],
  nonce_used: [
    'nonce too low', // geth, besu, hardhat
    'oldnonce', // nethermind
    'nonce is too low',
    'transaction nonce too low', // EDR
  ],
  fee_too_low: [
    'transaction underpriced', // geth, reth
    'underpriced', // erigon
    'replacement transaction underpriced', // geth, erigon, reth, besu, hardhat
    'max fee per gas less than block base fee', // geth, reth
    'fee cap less than block base fee', // erigon
    'max priority fee per gas less than minimum', // op-geth
    'gas tip cap', // geth pool: "gas tip cap 0, minimum needed 1"
    'feetoolow', // nethermind
    'feetoolowtocompete',
    'replacementnotallowed',
    'gas price below configured minimum gas price', // besu
    'gas price below current base fee',
    'transaction maxfeepergas', // hardhat: "Transaction maxFeePerGas (1) is too low for the next block"
  ],
  insufficient_funds: [
    'insufficient funds', // geth, erigon, reth
    'insufficientfunds', // nethermind
    'upfront cost exceeds account balance', // besu
    "sender doesn't have enough funds", // hardhat
  ],
};

export function classifyRejection(error: unknown): Rejection {
  if (!(error instanceof NodeError)) return 'other';
  const text = error.message
    .toLowerCase()
    .replace(/^(internal_error|err): ?/, '')
    .trim();
  for (const [rejection, phrases] of Object.entries(PHRASES))
    if (phrases.some((phrase) => beginsWith(text, phrase))) return rejection as Rejection;
  return 'other';
}

function beginsWith(text: string, phrase: string): boolean {
  return text.startsWith(phrase) && !/^[a-z]/.test(text.slice(phrase.length));
}
