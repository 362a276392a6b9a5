// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Market
/// @notice Sells the fund's token to fund swaps, at a price and from a limited supply.
interface IMarket {
    /// @notice Whether the market trades. `Paused` is temporary, `Closed` is permanent.
    enum State {
        Active,
        Paused,
        Closed
    }

    /// @notice The state is now `state`.
    event StateChanged(State state);

    /// @notice One whole output token now costs `price` smallest units of `inputToken`; 0 means not accepted.
    event PriceSet(address indexed inputToken, uint256 price);

    /// @notice `buyer` paid `input` and received `output`.
    event Bought(address indexed buyer, address indexed inputToken, uint256 input, uint256 output);

    /// @notice The market is paused or closed.
    error NotActive();

    /// @notice The market does not accept this token.
    error TokenNotTaken(address inputToken);

    /// @notice The supply no longer covers the whole amount.
    error SupplyShort();

    /// @notice Returns `input`, the part of `amount` that the market would take, and the output for it. `input` is
    /// below `amount` if the supply is short.
    function quote(address inputToken, uint256 amount) external view returns (uint256 input, uint256 output);

    /// @notice Takes exactly `input` from the caller and sends the output to the caller.
    function buy(address inputToken, uint256 input) external returns (uint256 output);

    /// @notice The token that the market sells.
    function outputToken() external view returns (address);

    function state() external view returns (State);
}
