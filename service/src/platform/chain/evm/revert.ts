import type { Hex } from 'viem';
import { decodeErrorResult, isHex, parseAbi } from 'viem/utils';
import { NodeError } from '../rpc/failures.ts';

/** Returns the revert data if the node's error means that the call reverted, or undefined for any other error. */
export function revertData(error: unknown): Hex | undefined {
  if (!(error instanceof NodeError)) return undefined;
  const data =
    typeof error.data === 'object' && error.data !== null
      ? (error.data as { data?: unknown }).data
      : error.data;
  if (isHex(data)) return data;
  // Some nodes omit empty revert data, or report running out of gas with a different error code than other reverts.
  return /revert|invalid opcode|out of gas|stack|invalid jump/i.test(error.message) ? '0x' : undefined;
}

// In hex digits. Callers choose the contracts, and a contract can revert with a megabyte.
const MAX_DECODED_LENGTH = 4_096;

/** Describes a revert: the `require` message, the name and arguments of a known error, or the raw data. */
export function describeRevert(data: Hex): string {
  if (data === '0x') return 'reverted without a reason';
  try {
    const start = data.slice(0, MAX_DECODED_LENGTH) as Hex;
    const { errorName, args = [] } = decodeErrorResult({ abi: KNOWN_ERRORS, data: start });
    if (errorName === 'Error') return String(args[0]);
    return `${errorName}(${args.map(String).join(', ')})`;
  } catch {
    return `unknown error ${data.slice(0, 138)}`;
  }
}

/** May be stored as a reason: omits arguments and raw data, which may contain a wallet address. */
export function nameRevert(data: Hex): string {
  return describeRevert(data)
    .replace(/[(:].*| 0x.*/s, '')
    .trim();
}

/** Errors from the contracts in `contracts/`. A test compares each entry with the compiled ABIs. */
export const CONTRACT_ERRORS = parseAbi([
  'error CommitFailed(address user, bytes32 option, address token)',
  'error InvalidUser()',
  'error InsufficientAmount(uint256 amount, uint256 minimum)',
  'error InsufficientAmount()',
  'error IsStopped()',
  'error IsPaused(uint32 flags)',
  'error Unauthorized()',
  'error NonEquivalentListLength()',
  'error InsufficientCommitment(address user, bytes32 option, address token)',
  'error RemitFailed(address user, bytes32 option, address token)',
  'error InsufficientGas()',
  'error AlreadyCommitted(bytes32 id)',
  'error AlreadyRemitted(bytes32 id)',
  'error NotCommitted(bytes32 id)',
  'error CommitFailed(bytes32 id)',
  'error RemitFailed(bytes32 id)',
  'error InvalidAmount()',
  'error InvalidAddress()',
  'error InvalidSide()',
  'error InvalidCalldata()',
  'error SwapFailed(address input, address output)',
  'error TokenNotTaken(address inputToken)',
  'error NotActive()',
  'error SupplyShort()',
  'error PermissionExpired(uint256 deadline)',
  'error InvalidPermission()',
  'error NoAllowList()',
  'error AttestationExpired()',
  'error AttestationAlreadyExecuted()',
  'error InvalidAttestationSigner()',
  'error InvalidChainId()',
  'error InvalidQuoteSide()',
  'error UserIdMismatch(bytes32 registered, bytes32 quoted)',
  'error UserNotRegistered()',
  'error GMTokenNotRegistered()',
  'error DepositAmountTooSmall()',
  'error RedemptionAmountTooSmall()',
  'error GlobalMintsPaused()',
  'error GlobalRedemptionsPaused()',
  'error GMTokenMintsPaused()',
  'error GMTokenRedemptionsPaused()',
  'error USDonManagerNotEnabled()',
  'error TokenAddressCantBeZero()',
  'error RateLimitExceeded()',
  'error GlobalRateLimitNotSet()',
  'error DefaultUserRateLimitNotSet()',
  'error PriceOutOfRange()',
  'error StalePrice()',
  'error PriceNotSet()',
  'error OutsideMarketHours()',
  'error InsufficientUSDonReceived()',
  'error InsufficientStablecoinReceived()',
  'error StablecoinPriceBelowMinimum()',
  'error OraclePriceOutdated()',
  'error InvalidDepositToken()',
  'error InvalidReceivingToken()',
]);

/** Errors from Solidity itself, from widely used libraries and from contracts deployed by third parties. */
const FOREIGN_ERRORS = parseAbi([
  'error Error(string)',
  'error Panic(uint256)',
  'error SafeERC20FailedOperation(address token)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error TransferFromFailed()',
  'error TransferFailed()',
]);

const KNOWN_ERRORS = [...FOREIGN_ERRORS, ...CONTRACT_ERRORS] as const;
