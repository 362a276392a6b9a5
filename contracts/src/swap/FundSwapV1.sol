// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {FundSwapBase} from "./FundSwapBase.sol";
import {IStopMask} from "./IFundSwap.sol";

/// @title Fund swap, older generation
/// @notice Has a single stop mask and no status.
contract FundSwapV1 is FundSwapBase, IStopMask {
    uint256 public stopped;

    constructor(Config memory config) FundSwapBase(config) {}

    function stop(uint256 level) external onlyOwner {
        stopped = level;
        emit Stopped(level);
    }

    function _checkRunning() internal view override {
        if (stopped & SWAP_LEVEL != 0) revert IsStopped();
    }
}
