// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Fund swap
/// @notice Swaps a funding token of the caller into the fund's token, at the price and within the supply of a market,
/// less a fee in basis points. Two generations differ only in how they stop: `IStopMask` and `IStopStatus`.
interface IFundSwap {
    struct Config {
        address owner;
        address market;
        address feeRecipient;
        uint256 feeBps;
        /// Zero: everyone may swap.
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

    /// @notice Nothing would be swapped.
    error InvalidAmount();

    /// @notice Less than `minOut` would be received.
    error InsufficientAmount();

    /// @notice A token or the market did not do what it said.
    error SwapFailed(address inputToken, address outputToken);

    /// @notice The zero address has no place here.
    error InvalidAddress();

    /// @notice Swapping is stopped.
    error IsStopped();

    /// @notice What `swap` would do with `amount`: the market takes `input`, the wallet pays `input + fee`, never more
    /// than `amount`, and receives `output`. `input` is lower when supply is short.
    function preview(address inputToken, uint256 amount)
        external
        view
        returns (uint256 input, uint256 fee, uint256 output);

    /// @notice Swaps at most `amount` of `token`, fee included, for at least `minOut`.
    function swap(address token, uint256 amount, uint256 minOut) external returns (uint256 output);

    /// @notice Changes the fee (at most 10 %) and who gets it. Owner.
    function setFee(uint256 bps, address recipient) external;

    function outputToken() external view returns (address);

    function market() external view returns (address);

    function feeBps() external view returns (uint256);

    function feeRecipient() external view returns (address);

    /// @notice The bit of the stop or pause mask that stops swaps.
    function SWAP_LEVEL() external view returns (uint256);
}

/// @title Older generation of the stop flags
interface IStopMask {
    /// @notice The stop mask is now `level`.
    event Stopped(uint256 level);

    /// @notice Overwrites the mask; 0 resumes. Owner.
    function stop(uint256 level) external;

    function stopped() external view returns (uint256);
}

/// @title Newer generation of the stop flags
interface IStopStatus {
    /// @notice Stopped, for good.
    event Stopped();

    /// @notice The pause mask is now `flags`.
    event Paused(uint32 flags);

    /// @notice Swapping is paused by `flags`.
    error IsPaused(uint32 flags);

    /// @notice Stops for good. Owner.
    function stop() external;

    /// @notice Overwrites the pause mask; 0 resumes. Owner.
    function pause(uint32 flags) external;

    function stopped() external view returns (bool);

    function paused() external view returns (uint32);

    /// @notice 0 active, 1 paused, 2 stopped, and the pause flags; the market behind is folded in.
    function status() external view returns (uint8 state, uint32 flags);
}
