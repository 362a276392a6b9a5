// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "../../src/tokens/Token.sol";

/// @dev Misbehaves for chosen users, even if their allowances and balances suffice: charges one percent of every
/// transfer, burns all gas, or blocks them as issuers block wallets. Or reports the remaining allowance after each
/// transfer, as many tokens do.
contract HostileToken is Token {
    mapping(address user => uint256) public treatment;

    constructor() Token(msg.sender, "Hostile", "HST", 6) {}

    /// @dev 1 charges a fee, 2 burns all gas, 3 emits `Approval` after a transfer, 4 refuses every transfer that the user
    /// sends, receives or makes for somebody else, 0 transfers normally.
    function treat(address user, uint256 kind) external {
        treatment[user] = kind;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        _refuseBlocked(msg.sender);
        _refuseBlocked(to);
        return super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        uint256 kind = treatment[from];
        if (kind == 2) {
            assembly {
                invalid()
            }
        }
        _refuseBlocked(msg.sender);
        _refuseBlocked(from);
        _refuseBlocked(to);
        uint256 fee = kind == 1 ? amount / 100 : 0;
        super.transferFrom(from, to, amount - fee);
        if (kind == 3) emit Approval(from, msg.sender, allowance(from, msg.sender));
        return true;
    }

    function _refuseBlocked(address user) private view {
        if (treatment[user] == 4) revert("the issuer blocks this wallet");
    }
}
