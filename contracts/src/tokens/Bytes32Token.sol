// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {LegacyToken} from "./LegacyToken.sol";

/// @title Bytes32 token
/// @notice A token with 18 decimals whose name and symbol are bytes32, as in early tokens.
contract Bytes32Token is LegacyToken {
    bytes32 public immutable name;
    bytes32 public immutable symbol;
    uint8 public constant decimals = 18;

    constructor(address owner_, bytes32 name_, bytes32 symbol_) LegacyToken(owner_) {
        name = name_;
        symbol = symbol_;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        _approve(spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}
