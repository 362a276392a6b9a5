// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {FixedPointMathLib} from "solady/utils/FixedPointMathLib.sol";

/// @title Venue oracle
/// @notice Holds a posted price per asset. Every quote must be within a band around that price. Has no price feed.
contract VenueOracle is Ownable {
    struct Posted {
        uint256 price;
        uint64 lastUpdated;
        uint32 maxTimeDelay;
        uint16 allowedDeviationBps;
    }

    event PriceSet(address indexed asset, uint256 price, uint32 maxTimeDelay, uint16 allowedDeviationBps);

    error PriceOutOfRange();
    error StalePrice();
    error PriceNotSet();

    mapping(address asset => Posted) public prices;

    constructor(address owner) {
        _initializeOwner(owner);
    }

    function setPrice(address asset, uint256 price, uint32 maxTimeDelay, uint16 allowedDeviationBps)
        external
        onlyOwner
    {
        prices[asset] = Posted(price, uint64(block.timestamp), maxTimeDelay, allowedDeviationBps);
        emit PriceSet(asset, price, maxTimeDelay, allowedDeviationBps);
    }

    function check(address asset, uint256 price) external view {
        Posted memory posted = prices[asset];
        if (posted.price == 0) revert PriceNotSet();
        if (block.timestamp - posted.lastUpdated > posted.maxTimeDelay) revert StalePrice();
        uint256 band = FixedPointMathLib.fullMulDiv(posted.price, posted.allowedDeviationBps, 10_000);
        if (FixedPointMathLib.dist(price, posted.price) > band) revert PriceOutOfRange();
    }
}
