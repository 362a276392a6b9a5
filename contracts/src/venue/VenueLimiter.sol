// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OwnableRoles} from "solady/auth/OwnableRoles.sol";

/// @title Venue limiter
/// @notice Limits the dollars (scaled by 1e18) minted and redeemed per asset, in total and per user. Usage decays
/// linearly over the window. An asset without limits cannot trade. Only role 1, the manager, records usage.
contract VenueLimiter is OwnableRoles {
    struct Limit {
        uint256 cap;
        uint256 window;
    }

    struct Usage {
        uint256 used;
        uint256 since;
    }

    event LimitSet(address indexed asset, uint8 side, bool perUser, uint256 cap, uint256 window);

    error RateLimitExceeded();
    error GlobalRateLimitNotSet();
    error DefaultUserRateLimitNotSet();

    uint256 public constant SPEND = 1;

    mapping(address asset => mapping(uint8 side => Limit)) public globalLimit;
    mapping(address asset => mapping(uint8 side => Limit)) public userLimit;
    mapping(address asset => mapping(uint8 side => Usage)) private _global;
    mapping(address asset => mapping(uint8 side => mapping(bytes32 userId => Usage))) private _user;

    constructor(address owner) {
        _initializeOwner(owner);
    }

    function setGlobalLimit(address asset, uint8 side, uint256 cap, uint256 window) external onlyOwner {
        globalLimit[asset][side] = Limit(cap, window);
        emit LimitSet(asset, side, false, cap, window);
    }

    function setUserLimit(address asset, uint8 side, uint256 cap, uint256 window) external onlyOwner {
        userLimit[asset][side] = Limit(cap, window);
        emit LimitSet(asset, side, true, cap, window);
    }

    function spend(address asset, uint8 side, bytes32 userId, uint256 value) external onlyRoles(SPEND) {
        Limit memory everyone = globalLimit[asset][side];
        Limit memory each = userLimit[asset][side];
        if (everyone.window == 0) revert GlobalRateLimitNotSet();
        if (each.window == 0) revert DefaultUserRateLimitNotSet();
        _spend(_global[asset][side], everyone, value);
        _spend(_user[asset][side][userId], each, value);
    }

    function _spend(Usage storage usage, Limit memory limit, uint256 value) private {
        uint256 decay = limit.cap * (block.timestamp - usage.since) / limit.window;
        uint256 used = (usage.used > decay ? usage.used - decay : 0) + value;
        if (used > limit.cap) revert RateLimitExceeded();
        usage.used = used;
        usage.since = block.timestamp;
    }
}
