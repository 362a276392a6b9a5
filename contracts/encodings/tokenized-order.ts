import { domainSeparator, type Hex } from 'viem';
import { encodeFunctionData, hashStruct, hashTypedData, parseAbiParameters } from 'viem/utils';
import { verifiedSwapAbi } from './verifier-abi.ts';

/** EIP-712 types of the quote that the venue signs, taken from the struct in the contract's ABI. */
export const QUOTE_TYPES = { Quote: verifiedSwapAbi[0].inputs[0].components };

/** EIP-712 types of the request that the operator signs. */
export const REQUEST_TYPES = {
  VerifyRequest: parseAbiParameters(
    'uint8 side, address inputToken, address outputToken, address sender, uint256 nonce, uint256 expiry, uint256 amount',
  ),
} as const;

/** The venue manager's `ATTESTATION_SIGNER_ROLE`. */
export const SIGNER_ROLE: Hex = '0x023d9737d781c665e5048e4dfd034f07fec540e8ecb2336b3d85a375b90a3a35';

/** The quote that the venue signs, in the order of the contract's tuple. */
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

/**
 * The request that the operator signs. It allows `sender` to trade one pair of tokens once, for `amount`, until
 * `expiry`.
 */
export type VerifyRequest = {
  side: number;
  inputToken: Hex;
  outputToken: Hex;
  sender: Hex;
  nonce: bigint;
  expiry: bigint;
  amount: bigint;
};

export type Domain = { name: string; version: string; chainId: number; verifyingContract: Hex };

export function venueDomain(chainId: number, manager: Hex): Domain {
  return { name: 'OndoGMTokenManager', version: '1', chainId, verifyingContract: manager };
}

export function swapDomain(name: string, chainId: number, swap: Hex): Domain {
  return { name, version: '1', chainId, verifyingContract: swap };
}

export function separatorOf(domain: Domain): Hex {
  return domainSeparator({ domain });
}

export function hashQuoteStruct(quote: QuoteTuple): Hex {
  return hashStruct({ data: quote, primaryType: 'Quote', types: QUOTE_TYPES });
}

export function hashQuote(domain: Domain, quote: QuoteTuple): Hex {
  return hashTypedData({ domain, types: QUOTE_TYPES, primaryType: 'Quote', message: quote });
}

export function hashRequest(domain: Domain, message: VerifyRequest): Hex {
  return hashTypedData({ domain, types: REQUEST_TYPES, primaryType: 'VerifyRequest', message });
}

/** Encodes the swap call with the venue's and the operator's signatures. */
export function encodeSwap(
  attestation: QuoteTuple & { signature: Hex },
  token: Hex,
  gross: bigint,
  operatorSignature: Hex,
): Hex {
  const args = [attestation, attestation.signature, token, gross, operatorSignature] as const;
  return encodeFunctionData({ abi: verifiedSwapAbi, functionName: 'swap', args });
}

const UNIT = 10n ** 18n;
const CENT = 10n ** 16n;

/**
 * Mirrors the contract's check of a buy order: the payment must cover the cost and must not exceed it by a cent or
 * more. Returns the problem, or null if there is none.
 */
export function findCostProblem(
  { quantity, price }: Pick<QuoteTuple, 'quantity' | 'price'>,
  net: bigint,
  tokenDecimals: number,
): string | null {
  if (tokenDecimals > 18) return 'the funding token has more than 18 decimals';
  const surplus = net * 10n ** BigInt(18 - tokenDecimals) - (quantity * price) / UNIT;
  if (surplus < 0n) return 'the payment does not cover the quote';
  return surplus < CENT ? null : 'the payment exceeds the quote by a cent or more';
}
