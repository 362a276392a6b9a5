// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";

/// @title Venue hours
/// @notice Closed on Saturday and Sunday in one time zone, unless set to be always open. Has no holidays.
contract VenueHours is Ownable {
    event HoursSet(int256 offset, bool alwaysOpen);

    error OutsideMarketHours();

    /// @notice The market's offset from UTC in seconds.
    int256 public offset;
    bool public alwaysOpen;

    constructor(address owner, int256 offset_, bool alwaysOpen_) {
        _initializeOwner(owner);
        offset = offset_;
        alwaysOpen = alwaysOpen_;
    }

    function setHours(int256 offset_, bool alwaysOpen_) external onlyOwner {
        offset = offset_;
        alwaysOpen = alwaysOpen_;
        emit HoursSet(offset_, alwaysOpen_);
    }

    function check() external view {
        if (alwaysOpen) return;
        // Day 0 of Unix time was a Thursday, which is day 3 of a week that starts on Monday.
        uint256 weekday = (uint256(int256(block.timestamp) + offset) / 1 days + 3) % 7;
        if (weekday > 4) revert OutsideMarketHours();
    }
}
