import { decodeErrorResult, parseAbi } from 'viem/utils';
import { messageOf, readRevertData } from './wallet-error.ts';

type Hex = `0x${string}`;

/** Of tokens, of the three kinds of contracts and of the venue behind them. */
const ERRORS = parseAbi([
  'error Error(string reason)',
  'error Panic(uint256 code)',
  'error Unauthorized()',
  'error IsStopped()',
  'error IsPaused(uint32 flags)',
  'error InvalidAmount()',
  'error InvalidAddress()',
  'error InvalidSide()',
  'error InsufficientAmount()',
  'error SwapFailed(address inputToken, address outputToken)',
  'error SupplyShort()',
  'error NotActive()',
  'error TokenNotTaken(address inputToken)',
  'error PermissionExpired(uint256 deadline)',
  'error InvalidPermission()',
  'error NoAllowList()',
  'error AttestationExpired()',
  'error AttestationAlreadyExecuted()',
  'error InvalidAttestationSigner()',
  'error UserNotRegistered()',
  'error GlobalMintsPaused()',
  'error GMTokenMintsPaused()',
  'error DepositAmountTooSmall()',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC2612InvalidSigner(address signer, address owner)',
  'error ERC2612ExpiredSignature(uint256 deadline)',
  'error InsufficientBalance()',
  'error InsufficientAllowance()',
  'error InvalidPermit()',
  'error PermitExpired()',
  'error TransferFromFailed()',
  'error TransferFailed()',
  'error ApproveFailed()',
  'error Reentrancy()',
]);

/** `InsufficientAmount`, `IsPaused(4)`, a sentence of the contract's own, or the bare bytes. */
export function describeRevert(error: unknown): string {
  const data = readRevertData(error);
  return data === undefined || data === '0x' ? messageOf(error) : decodeRevert(data);
}

function decodeRevert(data: Hex): string {
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: ERRORS, data });
    if (errorName === 'Error') return String(args[0]);
    return args.length === 0 ? errorName : `${errorName}(${args.join(', ')})`;
  } catch {
    return data.slice(0, 10);
  }
}
