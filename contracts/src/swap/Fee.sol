// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {FixedPointMathLib} from "solady/utils/FixedPointMathLib.sol";

/// @dev The platform's fee in basis points. Exact for every `uint256`, because products are 512 bits wide.
library Fee {
    uint256 internal constant BPS = 10_000;
    uint256 internal constant MAX_BPS = 1_000;

    /// @notice The fee is above 10%.
    error FeeTooHigh(uint256 bps);

    function check(uint256 bps) internal pure returns (uint256) {
        if (bps > MAX_BPS) revert FeeTooHigh(bps);
        return bps;
    }

    /// @dev Splits a gross amount into the fee and the net amount.
    function inclusive(uint256 gross, uint256 bps) internal pure returns (uint256 fee, uint256 net) {
        net = FixedPointMathLib.fullMulDiv(gross, BPS, BPS + bps);
        fee = gross - net;
    }

    /// @dev Returns the fee on a net amount.
    function on(uint256 net, uint256 bps) internal pure returns (uint256) {
        return FixedPointMathLib.fullMulDiv(net, bps, BPS);
    }
}
