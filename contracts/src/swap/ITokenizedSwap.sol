// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Quote} from "../venue/IVenueManager.sol";

/// @title Tokenized swap
/// @notice Trades the venue's assets for wallets that the operator authorizes. The venue knows only this contract, and
/// its quotes contain no wallet. The operator's signature binds a quote to the one wallet that may use it.
/// @dev The operator signs this EIP-712 request in the domain that `eip712Domain()` (EIP-5267) returns:
/// `VerifyRequest(uint8 side,address inputToken,address outputToken,address sender,uint256 nonce,uint256 expiry,uint256
/// amount)`; `sender` is the caller, `nonce` is the number of times that the caller has swapped this pair, and `expiry`
/// is the quote's expiration. The venue's errors pass through unchanged.
interface ITokenizedSwap {
    struct Config {
        address owner;
        address manager;
        address operator;
        address feeRecipient;
        uint256 feeBps;
        /// The EIP-712 domain name, 1 to 31 characters.
        string name;
    }

    /// @notice `user` swapped. In a buy, the user paid `inputAmount + fee` of `input`. In a sell, the user paid
    /// `inputAmount` and received `outputAmount`, from which `fee` was already deducted.
    event Swapped(
        address indexed user,
        address indexed input,
        address indexed output,
        uint256 attestationId,
        uint8 side,
        uint256 inputAmount,
        uint256 fee,
        uint256 outputAmount
    );

    /// @notice Stopped permanently.
    event Stopped();

    /// @notice The pause mask is now `flags`.
    event Paused(uint32 flags);

    /// @notice The fee is now `bps`, paid to `recipient`.
    event FeeChanged(uint256 bps, address indexed recipient);

    /// @notice `operator` now signs requests.
    event OperatorChanged(address indexed operator);

    /// @notice The owner withdrew `amount` of `token` to `to`.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    error IsStopped();

    /// @notice Paused by `flags`.
    error IsPaused(uint32 flags);

    /// @notice The net payment exceeds the quote's cost by a cent or more.
    error InvalidAmount();

    /// @notice The output would be less than the minimum.
    error InsufficientAmount();

    /// @notice A token or the venue moved a different amount than expected.
    error SwapFailed(address inputToken, address outputToken);

    /// @notice An address is zero, or a token would be swapped for itself.
    error InvalidAddress();

    /// @notice The side is neither 0 (buy) nor 1 (sell).
    error InvalidSide();

    /// @notice The calldata is not strictly encoded: an offset, padding or trailing bytes differ from the standard
    /// encoding.
    error InvalidCalldata();

    /// @notice Executes a quote. A buy pays `amount` of `token`, including the fee. A sell receives at least `amount`
    /// of `token`, after the fee. The calldata must match the strict ABI encoding byte for byte.
    function swap(
        Quote calldata quote,
        bytes calldata venueSignature,
        address token,
        uint256 amount,
        bytes calldata operatorSignature
    ) external returns (uint256 output);

    /// @notice Splits `amount` into fee and net. `amount` is the gross payment for a buy or the venue's payout for a
    /// sell.
    function fee(uint8 side, uint256 amount) external view returns (uint256 fee_, uint256 net);

    /// @notice The totals of `user` for this pair. `count` is the nonce of the next request.
    function totals(address user, address input, address output)
        external
        view
        returns (uint256 inputSum, uint256 feeSum, uint256 outputSum, uint256 count);

    /// @notice The state (0 active, 1 paused, 2 stopped) and the pause flags (2 all, 4 buys, 8 sells), including the
    /// venue's global pauses.
    function status() external view returns (uint8 state, uint32 flags);

    /// @notice Like `status()`, but also reflects whether the venue has paused `asset`.
    function status(address asset) external view returns (uint8 state, uint32 flags);

    function stop() external;

    /// @notice Sets the pause mask: 2 pauses everything, 4 pauses buys, 8 pauses sells. Owner only.
    function pause(uint32 flags) external;

    function setFee(uint256 bps, address recipient) external;

    function setOperator(address operator) external;

    /// @notice Withdraws the surplus returned by the venue. The contract holds no user funds between calls. Owner only.
    function withdraw(address token, address to, uint256 amount) external;

    function stopped() external view returns (bool);

    function paused() external view returns (uint32);

    function SWAP_LEVEL() external view returns (uint256);

    function manager() external view returns (address);

    function operator() external view returns (address);

    function feeBps() external view returns (uint256);

    function feeRecipient() external view returns (address);

    function domainSeparator() external view returns (bytes32);
}
