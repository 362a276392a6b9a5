import { parseAbi } from 'viem/utils';

/**
 * The errors of tokens, of offer contracts, and of the venue that prices tokenized assets. The errors have their own
 * file, so that they are loaded only after a revert.
 */
export const errorsAbi = parseAbi([
  'error Unauthorized()',
  'error IsStopped()',
  'error IsPaused(uint32)',
  'error InvalidAmount()',
  'error InvalidAddress()',
  'error InvalidSide()',
  'error InsufficientAmount()',
  'error SwapFailed(address, address)',
  'error SupplyShort()',
  'error NotActive()',
  'error TokenNotTaken(address)',
  'error PermissionExpired(uint256)',
  'error InvalidPermission()',
  'error NoAllowList()',
  'error AttestationExpired()',
  'error AttestationAlreadyExecuted()',
  'error InvalidAttestationSigner()',
  'error UserNotRegistered()',
  'error GlobalMintsPaused()',
  'error GMTokenMintsPaused()',
  'error DepositAmountTooSmall()',
  'error ERC20InsufficientAllowance(address, uint256, uint256)',
  'error ERC20InsufficientBalance(address, uint256, uint256)',
  'error ERC2612InvalidSigner(address, address)',
  'error ERC2612ExpiredSignature(uint256)',
  'error InsufficientBalance()',
  'error InsufficientAllowance()',
  'error InvalidPermit()',
  'error PermitExpired()',
  'error TransferFromFailed()',
  'error TransferFailed()',
  'error ApproveFailed()',
  'error Reentrancy()',
]);
