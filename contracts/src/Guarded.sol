// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ReentrancyGuardTransient} from "solady/utils/ReentrancyGuardTransient.sol";

/// @dev A reentrancy guard in transient storage (EIP-1153), which every chain we deploy to supports.
abstract contract Guarded is ReentrancyGuardTransient {
    function _useTransientReentrancyGuardOnlyOnMainnet() internal pure override returns (bool) {
        return false;
    }
}
