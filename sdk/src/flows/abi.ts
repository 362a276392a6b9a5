import type { Hex } from 'viem';
import { parseAbi } from 'viem/utils';

// Fragments instead of the compiled ABIs, which would multiply the bundle size. A test compares them with contracts/abi.

/** Declared without a return value, because USDT returns none. */
export const approveAbi = /* @__PURE__ */ parseAbi(['function approve(address spender, uint256 amount)']);

/** `decimals` is declared as uint256, because old tokens return that. */
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

/** The first topics of the events that the flows read: keccak-256 of the event signatures. */
export const EVENT_TOPICS = {
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  fundSwapped: '0xc9163c3bdf7263acf1bb3d24072cc7da025f7181c31e2edc7e1673edf5e0ca32',
  tokenizedSwapped: '0xed16f185c3a00feb3f10831b5798e60555d44ff78d2ea3af48abc70ed48ac35c',
} as const satisfies Record<string, Hex>;
