// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "../../src/tokens/Token.sol";

/// @dev Misbehaves for chosen users, even if their allowances and balances suffice: charges one percent of every
/// transfer, burns all gas, or refuses transfers. Or reports the remaining allowance after each transfer, as many tokens
/// do.
contract HostileToken is Token {
    mapping(address user => uint256) public treatment;

    constructor() Token(msg.sender, "Hostile", "HST", 6) {}

    /// @dev 1 charges a fee, 2 burns all gas, 3 emits `Approval` after a transfer, 4 refuses transfers, 0 transfers
    /// normally.
    function treat(address user, uint256 kind) external {
        treatment[user] = kind;
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        uint256 kind = treatment[from];
        if (kind == 2) {
            assembly {
                invalid()
            }
        }
        if (kind == 4) revert("transfers are paused");
        uint256 fee = kind == 1 ? amount / 100 : 0;
        super.transferFrom(from, to, amount - fee);
        if (kind == 3) emit Approval(from, msg.sender, allowance(from, msg.sender));
        return true;
    }
}
