import type { Hex } from 'viem';
import { keccak256, parseAbi, stringToHex } from 'viem/utils';

// This file declares only the parts of the ABIs that the flows use, because the compiled ABIs would multiply the bundle
// size. A test compares these parts with contracts/abi.

/** Declared without a return value, because USDT returns none. */
export const approveAbi = /* @__PURE__ */ parseAbi(['function approve(address spender, uint256 amount)']);

/** `decimals` is declared as uint256, because some old tokens return that type. */
export const tokenAbi = /* @__PURE__ */ parseAbi([
  'function allowance(address owner, address spender) view returns (uint256)',
  'function decimals() view returns (uint256)',
  'function symbol() view returns (string)',
]);

export const permitAbi = /* @__PURE__ */ parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function nonces(address owner) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
]);

export const fundSwapAbi = /* @__PURE__ */ parseAbi([
  'function preview(address inputToken, uint256 amount) view returns (uint256 input, uint256 fee, uint256 output)',
  'function swap(address token, uint256 amount, uint256 minOut) returns (uint256)',
]);

export const allowListAbi = /* @__PURE__ */ parseAbi([
  'function allow(address wallet, bytes32 offer, uint256 deadline, bytes signature)',
]);

const topicOf = (event: string): Hex => keccak256(stringToHex(event));

/**
 * Topic 0 of each event that the flows read. Computed at run time, because literal hashes would make the compressed
 * bundle larger.
 */
export const EVENT_TOPICS = {
  approval: /* @__PURE__ */ topicOf('Approval(address,address,uint256)'),
  transfer: /* @__PURE__ */ topicOf('Transfer(address,address,uint256)'),
  fundSwapped: /* @__PURE__ */ topicOf('Swapped(address,address,address,uint256,uint256,uint256)'),
  tokenizedSwapped: /* @__PURE__ */ topicOf(
    'Swapped(address,address,address,uint256,uint8,uint256,uint256,uint256)',
  ),
};
