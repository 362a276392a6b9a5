import { type Hex } from 'viem';
/** Encodings of the two signed messages and of the call that carries them (EIP-712 and the contract's interface). */
export declare const QUOTE_TYPES: {
  readonly Quote: readonly [
    {
      readonly name: 'chainId';
      readonly type: 'uint256';
    },
    {
      readonly name: 'attestationId';
      readonly type: 'uint256';
    },
    {
      readonly name: 'userId';
      readonly type: 'bytes32';
    },
    {
      readonly name: 'asset';
      readonly type: 'address';
    },
    {
      readonly name: 'price';
      readonly type: 'uint256';
    },
    {
      readonly name: 'quantity';
      readonly type: 'uint256';
    },
    {
      readonly name: 'expiration';
      readonly type: 'uint256';
    },
    {
      readonly name: 'side';
      readonly type: 'uint8';
    },
    {
      readonly name: 'additionalData';
      readonly type: 'bytes32';
    },
  ];
};
export declare const REQUEST_TYPES: {
  readonly VerifyRequest: readonly [
    {
      readonly name: 'side';
      readonly type: 'uint8';
    },
    {
      readonly name: 'inputToken';
      readonly type: 'address';
    },
    {
      readonly name: 'outputToken';
      readonly type: 'address';
    },
    {
      readonly name: 'sender';
      readonly type: 'address';
    },
    {
      readonly name: 'nonce';
      readonly type: 'uint256';
    },
    {
      readonly name: 'expiry';
      readonly type: 'uint256';
    },
    {
      readonly name: 'amount';
      readonly type: 'uint256';
    },
  ];
};
export declare const REQUEST_TYPEHASH: Hex;
export declare const SIGNER_ROLE: Hex;
/** What the venue signs, in the order of the contract's tuple. */
export type QuoteTuple = {
  chainId: bigint;
  attestationId: bigint;
  userId: Hex;
  asset: Hex;
  price: bigint;
  quantity: bigint;
  /** Seconds since the epoch. */
  expiration: bigint;
  side: number;
  additionalData: Hex;
};
/** What the operator signs: this wallet may pay this much for this pair, once, until then. */
export type VerifyRequest = {
  side: number;
  inputToken: Hex;
  outputToken: Hex;
  sender: Hex;
  nonce: bigint;
  expiry: bigint;
  amount: bigint;
};
export type Domain = {
  name: string;
  version: string;
  chainId: number;
  verifyingContract: Hex;
};
export declare function venueDomain(chainId: number, manager: Hex): Domain;
export declare function swapDomain(name: string, chainId: number, swap: Hex): Domain;
export declare function separatorOf(domain: Domain): Hex;
export declare function hashQuoteStruct(quote: QuoteTuple): Hex;
export declare function hashQuote(domain: Domain, quote: QuoteTuple): Hex;
export declare function hashRequest(domain: Domain, message: VerifyRequest): Hex;
/** The same for a domain whose separator is known, without hashing names and types anew. */
export declare function hashRequestIn(separator: Hex, message: VerifyRequest): Hex;
export declare function encodeSwap(
  {
    signature,
    ...quote
  }: QuoteTuple & {
    signature: Hex;
  },
  token: Hex,
  gross: bigint,
  operatorSignature: Hex,
): Hex;
/** The contract's guard of a buy: what is paid covers the cost, and by less than a cent. Null when it would pass. */
export declare function findCostProblem(
  { quantity, price }: Pick<QuoteTuple, 'quantity' | 'price'>,
  net: bigint,
  tokenDecimals: number,
): string | null;
