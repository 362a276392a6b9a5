// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "../../src/tokens/Token.sol";

/// @dev Burns one percent of every `transferFrom`.
contract FeeOnTransferToken is Token {
    constructor() Token(msg.sender, "Fee on transfer", "FOT", 6) {}

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        super.transferFrom(from, to, amount);
        _burn(to, amount / 100);
        return true;
    }
}
