import { domainSeparator } from 'viem';
import { encodeAbiParameters, encodeFunctionData, hashStruct, hashTypedData, keccak256 } from 'viem/utils';
import { tokenizedSwapAbi } from './tokenized-abi.js';
/** Encodings of the two signed messages and of the call that carries them (EIP-712 and the contract's interface). */
export const QUOTE_TYPES = {
  Quote: [
    { name: 'chainId', type: 'uint256' },
    { name: 'attestationId', type: 'uint256' },
    { name: 'userId', type: 'bytes32' },
    { name: 'asset', type: 'address' },
    { name: 'price', type: 'uint256' },
    { name: 'quantity', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'additionalData', type: 'bytes32' },
  ],
};
export const REQUEST_TYPES = {
  VerifyRequest: [
    { name: 'side', type: 'uint8' },
    { name: 'inputToken', type: 'address' },
    { name: 'outputToken', type: 'address' },
    { name: 'sender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'expiry', type: 'uint256' },
    { name: 'amount', type: 'uint256' },
  ],
};
export const REQUEST_TYPEHASH = '0xbc80a36b87b5bb1806c854856f3085b7cf8ffe21a3f92f0b348be549b8f9501f';
export const SIGNER_ROLE = '0x023d9737d781c665e5048e4dfd034f07fec540e8ecb2336b3d85a375b90a3a35';
export function venueDomain(chainId, manager) {
  return { name: 'OndoGMTokenManager', version: '1', chainId, verifyingContract: manager };
}
export function swapDomain(name, chainId, swap) {
  return { name, version: '1', chainId, verifyingContract: swap };
}
export function separatorOf(domain) {
  return domainSeparator({ domain });
}
export function hashQuoteStruct(quote) {
  return hashStruct({ data: quote, primaryType: 'Quote', types: QUOTE_TYPES });
}
export function hashQuote(domain, quote) {
  return hashTypedData({ domain, types: QUOTE_TYPES, primaryType: 'Quote', message: quote });
}
export function hashRequest(domain, message) {
  return hashTypedData({ domain, types: REQUEST_TYPES, primaryType: 'VerifyRequest', message });
}
const REQUEST_WORDS = [{ type: 'bytes32' }, ...REQUEST_TYPES.VerifyRequest];
/** The same for a domain whose separator is known, without hashing names and types anew. */
export function hashRequestIn(separator, message) {
  const { side, inputToken, outputToken, sender, nonce, expiry, amount } = message;
  const words = [REQUEST_TYPEHASH, side, inputToken, outputToken, sender, nonce, expiry, amount];
  const struct = keccak256(encodeAbiParameters(REQUEST_WORDS, words));
  return keccak256(`0x1901${separator.slice(2)}${struct.slice(2)}`);
}
// With the selector given, viem does not hash the signature again for every call.
const SWAP = { abi: [tokenizedSwapAbi[0]], functionName: '0x5dcce09f' };
export function encodeSwap({ signature, ...quote }, token, gross, operatorSignature) {
  const args = [quote, signature, token, gross, operatorSignature];
  return encodeFunctionData({ ...SWAP, args });
}
const UNIT = 10n ** 18n;
const TOLERANCE = 10n ** 16n;
/** The contract's guard of a buy: what is paid covers the cost, and by less than a cent. Null when it would pass. */
export function findCostProblem({ quantity, price }, net, tokenDecimals) {
  if (tokenDecimals > 18) return 'the funding token has more than 18 decimals';
  const surplus = net * 10n ** BigInt(18 - tokenDecimals) - (quantity * price) / UNIT;
  if (surplus < 0n) return 'the quote costs more than what is paid';
  return surplus < TOLERANCE ? null : 'the quote costs a cent or more less than what is paid';
}
