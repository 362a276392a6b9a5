// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Fund swap
/// @notice Swaps the caller's funding token for the fund's token, at a market's price and within the market's supply.
/// Charges a fee in basis points. The two generations differ only in their stop flags: `IStopMask` and `IStopStatus`.
interface IFundSwap {
    struct Config {
        address owner;
        address market;
        address feeRecipient;
        uint256 feeBps;
        /// Zero lets everyone swap.
        address supplier;
        uint32 swapLevel;
    }

    /// @notice `user` paid `inputAmount + fee` and received `outputAmount`.
    event Swapped(
        address indexed user,
        address indexed inputToken,
        address indexed outputToken,
        uint256 inputAmount,
        uint256 fee,
        uint256 outputAmount
    );

    /// @notice The fee is now `bps`, paid to `recipient`.
    event FeeChanged(uint256 bps, address indexed recipient);

    /// @notice The amount is too small, no supply is left, or the configured swap level is zero.
    error InvalidAmount();

    /// @notice The output would be less than `minOut`.
    error InsufficientAmount();

    /// @notice A token or the market moved a different amount than expected.
    error SwapFailed(address inputToken, address outputToken);

    /// @notice The address is zero.
    error InvalidAddress();

    /// @notice Swaps are stopped.
    error IsStopped();

    /// @notice Previews `swap`. The market takes `input`. The wallet pays `input + fee`, which is at most `amount`, and
    /// receives `output`. If the supply is short, `input` pays only for what is left.
    function preview(address inputToken, uint256 amount)
        external
        view
        returns (uint256 input, uint256 fee, uint256 output);

    /// @notice Swaps at most `amount` of `token`, including the fee, for at least `minOut` of the fund's token.
    function swap(address token, uint256 amount, uint256 minOut) external returns (uint256 output);

    /// @notice Changes the fee (at most 10%) and its recipient. Owner only.
    function setFee(uint256 bps, address recipient) external;

    function outputToken() external view returns (address);

    function market() external view returns (address);

    function feeBps() external view returns (uint256);

    function feeRecipient() external view returns (address);

    /// @notice The bit of the stop or pause mask that stops swaps.
    function SWAP_LEVEL() external view returns (uint256);
}

/// @title Stop flags of the older generation
interface IStopMask {
    /// @notice The stop mask is now `level`.
    event Stopped(uint256 level);

    /// @notice Sets the stop mask; 0 resumes. Owner only.
    function stop(uint256 level) external;

    function stopped() external view returns (uint256);
}

/// @title Stop flags of the newer generation
interface IStopStatus {
    /// @notice Stopped permanently.
    event Stopped();

    /// @notice The pause mask is now `flags`.
    event Paused(uint32 flags);

    /// @notice Swaps are paused by `flags`.
    error IsPaused(uint32 flags);

    /// @notice Stops permanently. Owner only.
    function stop() external;

    /// @notice Sets the pause mask; 0 resumes. Owner only.
    function pause(uint32 flags) external;

    function stopped() external view returns (bool);

    function paused() external view returns (uint32);

    /// @notice The state (0 active, 1 paused, 2 stopped) and the pause flags. Both take the market's state into
    /// account.
    function status() external view returns (uint8 state, uint32 flags);
}
