import { base58 } from '@scure/base';

export const SYSTEM_PROGRAM = new Uint8Array(32);
export const TOKEN_PROGRAM = base58.decode('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const TOKEN_2022_PROGRAM = base58.decode('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const ASSOCIATED_TOKEN_PROGRAM = base58.decode('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
export const COMPUTE_BUDGET_PROGRAM = base58.decode('ComputeBudget111111111111111111111111111111');
export const MEMO_PROGRAM = base58.decode('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
export const FORMER_MEMO_PROGRAM = base58.decode('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo');
export const LOOKUP_TABLE_PROGRAM = base58.decode('AddressLookupTab1e1111111111111111111111111');

export function isSameKey(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
