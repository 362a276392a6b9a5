// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "../../src/tokens/Token.sol";

/// @dev Once frozen, rejects all transfers by returning false.
contract FalseToken is Token {
    bool public frozen;

    constructor() Token(msg.sender, "False", "NO", 6) {}

    function freeze() external {
        frozen = true;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        return frozen ? false : super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        return frozen ? false : super.transferFrom(from, to, amount);
    }
}
