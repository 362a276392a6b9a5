// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";

/// @title Transfer probe
/// @notice Finds out whether a token transfers exact amounts. Never deployed: a simulated call (`eth_call` with a state
/// override) places its code at a holder's address.
contract TransferProbe {
    using SafeTransferLib for address;

    /// @notice Moves `amount` to `to` with an allowance, as a fund would. Returns how much was sent and how much
    /// arrived.
    function probe(address token, address to, uint256 amount) external returns (uint256 sent, uint256 received) {
        uint256 here = token.balanceOf(address(this));
        uint256 there = token.balanceOf(to);
        token.safeApproveWithRetry(address(this), amount);
        token.safeTransferFrom(address(this), to, amount);
        sent = here - token.balanceOf(address(this));
        received = token.balanceOf(to) - there;
    }
}
