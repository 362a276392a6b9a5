// What few purchases need, in one file that loads with the first of them: two files would add to the total.
export { readPermitTerms, signPermit } from './permit.ts';
export { runSolanaSale } from './solana-purchase.ts';
