// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "../../src/tokens/Token.sol";

/// @dev Calls back during a transfer and stores the result.
contract ReentrantToken is Token {
    address public target;
    bytes public data;
    bool public tried;
    bytes public answer;

    constructor() Token(msg.sender, "Reentrant", "RE", 6) {}

    function arm(address target_, bytes calldata data_) external {
        target = target_;
        data = data_;
    }

    function _afterTokenTransfer(address, address, uint256) internal override {
        if (target == address(0)) return;
        address callee = target;
        target = address(0);
        bool passed;
        (passed, answer) = callee.call(data);
        tried = true;
        require(!passed, "reentered");
    }
}
