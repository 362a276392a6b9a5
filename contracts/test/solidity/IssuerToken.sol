// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "../../src/tokens/Token.sol";

/// @dev A fund share. Its issuer decides which wallets may hold it, independently of the swap contract.
contract IssuerToken is Token {
    mapping(address wallet => bool) public isEligible;

    constructor() Token(msg.sender, "Issuer Fund", "ISF", 6) {}

    function setEligible(address wallet, bool eligible) external onlyOwner {
        isEligible[wallet] = eligible;
    }
}
