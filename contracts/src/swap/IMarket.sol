// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Market
/// @notice Where a fund swap buys: a price, a limited supply and a state.
interface IMarket {
    /// @notice Whether the market trades. Paused may come back, Closed does not.
    enum State {
        Active,
        Paused,
        Closed
    }

    /// @notice The state is now `state`.
    event StateChanged(State state);

    /// @notice One whole output token now costs `price` of `inputToken`'s smallest unit; 0 means not taken.
    event PriceSet(address indexed inputToken, uint256 price);

    /// @notice `buyer` paid `input` and `output` went to it.
    event Bought(address indexed buyer, address indexed inputToken, uint256 input, uint256 output);

    /// @notice The market does not trade now.
    error NotActive();

    /// @notice The market takes no such token.
    error TokenNotTaken(address inputToken);

    /// @notice The whole amount can no longer be filled.
    error SupplyShort();

    /// @notice What the market would take of `amount`, and give for it. `input` is below `amount` when supply is short.
    function quote(address inputToken, uint256 amount) external view returns (uint256 input, uint256 output);

    /// @notice Takes exactly `input` from the caller and sends it the output.
    function buy(address inputToken, uint256 input) external returns (uint256 output);

    /// @notice What it sells.
    function outputToken() external view returns (address);

    function state() external view returns (State);
}
