import { parseAbi } from 'viem/utils';
import { VERIFIED_ENTRIES } from './verifier-abi.ts';

export { venueManagerAbi } from './verifier-abi.ts';

/** The ABI entries of the tokenized swap contract that the service and the SDK use. */
export const tokenizedSwapAbi = parseAbi([
  ...VERIFIED_ENTRIES,
  'function status(address asset) view returns (uint8 state, uint32 flags)',
  'event Swapped(address indexed user, address indexed input, address indexed output, uint256 attestationId, uint8 side, uint256 inputAmount, uint256 fee, uint256 outputAmount)',
]);
