// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Quote} from "../../src/venue/IVenueManager.sol";

/// @dev Reports a mint without minting anything.
contract LyingManager {
    function mintWithAttestation(Quote calldata quote, bytes calldata, address, uint256)
        external
        pure
        returns (uint256)
    {
        return quote.quantity;
    }
}
