// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {FundSwapBase} from "./FundSwapBase.sol";
import {IStopStatus} from "./IFundSwap.sol";
import {IMarket} from "./IMarket.sol";

/// @title Fund swap, newer generation
/// @notice Can be stopped permanently, or paused with a mask. Swaps also stop while the market is paused or closed.
contract FundSwap is FundSwapBase, IStopStatus {
    bool public stopped;
    uint32 public paused;

    constructor(Config memory config) FundSwapBase(config) {}

    function stop() external onlyOwner {
        stopped = true;
        emit Stopped();
    }

    function pause(uint32 flags) external onlyOwner {
        paused = flags;
        emit Paused(flags);
    }

    function status() public view returns (uint8 state, uint32 flags) {
        IMarket.State behind = IMarket(market).state();
        flags = paused;
        if (behind != IMarket.State.Active) flags |= uint32(SWAP_LEVEL);
        if (stopped || behind == IMarket.State.Closed) return (2, flags);
        return (flags & SWAP_LEVEL == 0 ? 0 : 1, flags);
    }

    function _checkRunning() internal view override {
        (uint8 state, uint32 flags) = status();
        if (state == 2) revert IsStopped();
        if (state == 1) revert IsPaused(flags);
    }
}
