// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OwnableRoles} from "solady/auth/OwnableRoles.sol";
import {MetadataReaderLib} from "solady/utils/MetadataReaderLib.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";

/// @title Venue converter
/// @notice Converts stablecoins to and from the venue's dollar, one to one, from its own reserves. Converts a
/// stablecoin only while its posted price is at least 0.98. Only role 1, the manager, may convert.
contract VenueConverter is OwnableRoles {
    using SafeTransferLib for address;

    struct Stablecoin {
        uint256 price;
        uint64 lastUpdated;
        uint64 maxTimeDelay;
    }

    event PriceSet(address indexed stablecoin, uint256 price, uint64 maxTimeDelay);

    error InvalidDepositToken();
    error InvalidReceivingToken();
    error InsufficientUSDonReceived();
    error InsufficientStablecoinReceived();
    error StablecoinPriceBelowMinimum();
    error OraclePriceOutdated();

    uint256 public constant CONVERT = 1;
    uint256 public constant MINIMUM_PRICE = 0.98e18;

    address public immutable usdon;
    mapping(address stablecoin => Stablecoin) public stablecoins;

    constructor(address owner, address usdon_) {
        _initializeOwner(owner);
        usdon = usdon_;
    }

    /// @notice Posts a price (scaled by 1e18) and its maximum age. A zero `maxTimeDelay` rejects the stablecoin.
    function setPrice(address stablecoin, uint256 price, uint64 maxTimeDelay) external onlyOwner {
        stablecoins[stablecoin] = Stablecoin(price, uint64(block.timestamp), maxTimeDelay);
        emit PriceSet(stablecoin, price, maxTimeDelay);
    }

    /// @notice Takes `amount` of `stablecoin` and pays at least `minimum` of the venue's dollar.
    function toDollar(address stablecoin, uint256 amount, uint256 minimum)
        external
        onlyRoles(CONVERT)
        returns (uint256 dollars)
    {
        if (stablecoins[stablecoin].maxTimeDelay == 0) revert InvalidDepositToken();
        _checkPrice(stablecoin);
        dollars = amount * _scale(stablecoin);
        if (dollars < minimum) revert InsufficientUSDonReceived();
        stablecoin.safeTransferFrom(msg.sender, address(this), amount);
        usdon.safeTransfer(msg.sender, dollars);
    }

    /// @notice Takes `dollars` and pays at least `minimum` of `stablecoin` to `to`. Rounds the payment down.
    function fromDollar(address stablecoin, uint256 dollars, uint256 minimum, address to)
        external
        onlyRoles(CONVERT)
        returns (uint256 amount)
    {
        if (stablecoins[stablecoin].maxTimeDelay == 0) revert InvalidReceivingToken();
        _checkPrice(stablecoin);
        amount = dollars / _scale(stablecoin);
        if (amount < minimum) revert InsufficientStablecoinReceived();
        usdon.safeTransferFrom(msg.sender, address(this), dollars);
        stablecoin.safeTransfer(to, amount);
    }

    function _checkPrice(address stablecoin) private view {
        Stablecoin memory posted = stablecoins[stablecoin];
        if (block.timestamp - posted.lastUpdated > posted.maxTimeDelay) revert OraclePriceOutdated();
        if (posted.price < MINIMUM_PRICE) revert StablecoinPriceBelowMinimum();
    }

    function _scale(address stablecoin) private view returns (uint256) {
        return 10 ** (18 - MetadataReaderLib.readDecimals(stablecoin));
    }
}
