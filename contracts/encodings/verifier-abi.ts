import { parseAbi } from 'viem/utils';

/** The ABI entries of the tokenized swap contract that are needed to verify an order. An order is a call to `swap`. */
export const VERIFIED_ENTRIES = [
  'struct Quote { uint256 chainId; uint256 attestationId; bytes32 userId; address asset; uint256 price; uint256 quantity; uint256 expiration; uint8 side; bytes32 additionalData; }',
  'function swap(Quote quote, bytes venueSignature, address token, uint256 amount, bytes operatorSignature) returns (uint256)',
  'function totals(address user, address input, address output) view returns (uint256 inputSum, uint256 feeSum, uint256 outputSum, uint256 count)',
  'function fee(uint8 side, uint256 amount) view returns (uint256 fee, uint256 net)',
  'function manager() view returns (address)',
  'function operator() view returns (address)',
  'function domainSeparator() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
] as const;

export const verifiedSwapAbi = parseAbi(VERIFIED_ENTRIES);

/** The ABI entries of the venue's manager contract that are needed to verify a quote. */
export const venueManagerAbi = parseAbi([
  'function executedAttestationIds(uint256 attestationId) view returns (bool)',
  'function getDomainSeparator() view returns (bytes32)',
  'function hasRole(bytes32 role, address account) view returns (bool)',
]);
