// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {FixedPriceMarket} from "../../src/swap/FixedPriceMarket.sol";

/// @dev Quotes one unit more than it delivers.
contract LyingMarket is FixedPriceMarket {
    constructor(address owner, address outputToken_, address treasury_)
        FixedPriceMarket(owner, outputToken_, treasury_)
    {}

    function quote(address inputToken, uint256 amount) public view override returns (uint256 input, uint256 output) {
        (input, output) = super.quote(inputToken, amount);
        if (msg.sig != this.buy.selector) ++output;
    }

}
