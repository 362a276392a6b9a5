// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "../../src/tokens/Token.sol";

/// @dev Burns about 200,000 extra gas on each transfer.
contract HeavyToken is Token {
    constructor() Token(msg.sender, "Heavy", "HVY", 6) {}

    function _afterTokenTransfer(address from, address, uint256) internal view override {
        if (from == address(0)) return;
        uint256 end = gasleft() - 200_000;
        while (gasleft() > end) {}
    }
}
