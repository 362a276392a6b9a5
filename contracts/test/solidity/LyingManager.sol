// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Quote} from "../../src/venue/IVenueManager.sol";

/// @dev Says that it minted, and did nothing.
contract LyingManager {
    function mintWithAttestation(Quote calldata quote, bytes calldata, address, uint256)
        external
        pure
        returns (uint256)
    {
        return quote.quantity;
    }
}
