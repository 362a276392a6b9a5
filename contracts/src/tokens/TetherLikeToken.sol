// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {LegacyToken} from "./LegacyToken.sol";

/// @title Tether-like token
/// @notice A token with 6 decimals and no return values. An allowance must be reset to zero before it can change.
contract TetherLikeToken is LegacyToken {
    string public constant name = "Tether-like USD";
    string public constant symbol = "USDTL";
    uint256 public constant decimals = 6;

    constructor(address owner_) LegacyToken(owner_) {}

    function approve(address spender, uint256 amount) external {
        require(amount == 0 || allowance[msg.sender][spender] == 0);
        _approve(spender, amount);
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        _spend(from, amount);
        _move(from, to, amount);
    }
}
