import { NodeError } from '../chain/rpc/failures.ts';

/**
 * Why a node rejected `eth_sendRawTransaction`. If a transaction keeps being rejected with `other`, an operator must
 * act.
 */
export type Rejection = 'already_known' | 'nonce_used' | 'fee_too_low' | 'insufficient_funds' | 'other';

/**
 * Prefixes of nodes' error messages, grouped by what they mean. A message matches a phrase if it starts with the phrase
 * and the next character is not a letter. Error codes are not enough, because most clients use -32000 for all of these
 * errors. `node-errors.test.ts` contains recorded messages.
 */
const PHRASES: Record<Exclude<Rejection, 'other'>, readonly string[]> = {
  already_known: [
    'already known', // geth, erigon, reth
    'AlreadyKnown', // nethermind
    'Known transaction', // besu, hardhat
    'Transaction already known', // EDR
    'transaction already imported', // openethereum and gateways
  ],
  nonce_used: [
    'nonce too low', // geth
    'OldNonce', // nethermind
    'Nonce too low', // besu, hardhat
    'Nonce is too low',
    'Transaction nonce too low', // EDR
  ],
  fee_too_low: [
    'transaction underpriced', // geth, reth
    'underpriced', // erigon
    'replacement transaction underpriced', // geth, erigon, reth
    'Replacement transaction underpriced', // besu, hardhat
    'max fee per gas less than block base fee', // geth, reth
    'fee cap less than block base fee', // erigon
    'max priority fee per gas less than minimum', // op-geth
    'gas tip cap', // geth pool: "gas tip cap 0, minimum needed 1"
    'FeeTooLow', // nethermind
    'FeeTooLowToCompete',
    'ReplacementNotAllowed',
    'Gas price below configured minimum gas price', // besu
    'Gas price below current base fee',
    'Transaction maxFeePerGas', // hardhat: "Transaction maxFeePerGas (1) is too low for the next block"
  ],
  insufficient_funds: [
    'insufficient funds', // geth, erigon, reth
    'InsufficientFunds', // nethermind
    'Upfront cost exceeds account balance', // besu
    "Sender doesn't have enough funds", // hardhat
  ],
};

/** Classifies an error from `eth_sendRawTransaction`. An error that does not come from a node is `other`. */
export function classifyRejection(error: unknown): Rejection {
  if (!(error instanceof NodeError)) return 'other';
  const text = error.message.replace(/^(INTERNAL_ERROR|err): ?/, '').trim();
  for (const [rejection, phrases] of Object.entries(PHRASES))
    if (phrases.some((phrase) => beginsWith(text, phrase))) return rejection as Rejection;
  return 'other';
}

function beginsWith(text: string, phrase: string): boolean {
  return text.startsWith(phrase) && !/^[A-Za-z]/.test(text.slice(phrase.length));
}
