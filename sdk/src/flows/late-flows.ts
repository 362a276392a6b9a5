// What few purchases need, in one file that loads with the first of them, or with the balance of a Solana wallet: separate files
// would add to the total.
export { readPermitTerms, signPermit } from './permit.ts';
export { listTokenAccounts } from './solana-node.ts';
export { runSolanaSale } from './solana-purchase.ts';
