// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";

/// @title Venue registry
/// @notice Maps wallets to user ids, per token id. All wallets of a user map to the same id.
contract VenueRegistry is Ownable {
    event Registered(address indexed rwaToken, address indexed user, bytes32 indexed id);

    mapping(address rwaToken => mapping(address user => bytes32)) public getRegisteredID;

    constructor(address owner) {
        _initializeOwner(owner);
    }

    /// @notice Registers a wallet. The zero id removes it.
    function register(address rwaToken, address user, bytes32 id) external onlyOwner {
        getRegisteredID[rwaToken][user] = id;
        emit Registered(rwaToken, user, id);
    }
}
