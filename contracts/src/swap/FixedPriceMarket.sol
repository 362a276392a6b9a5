// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OwnableRoles} from "solady/auth/OwnableRoles.sol";
import {FixedPointMathLib} from "solady/utils/FixedPointMathLib.sol";
import {MetadataReaderLib} from "solady/utils/MetadataReaderLib.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {Guarded} from "../Guarded.sol";
import {IMarket} from "./IMarket.sol";

/// @title Fixed price market
/// @notice Sells the output tokens it holds at posted prices and sends the payment to its treasury. Only role 1, a
/// swap contract, can buy, so nobody can bypass the swap's allow-list and fee.
contract FixedPriceMarket is IMarket, OwnableRoles, Guarded {
    using FixedPointMathLib for uint256;
    using SafeTransferLib for address;

    uint256 public constant BUY = 1;

    address public immutable outputToken;
    address public immutable treasury;
    uint256 private immutable _unit;

    State public state;
    mapping(address inputToken => uint256) public price;

    constructor(address owner, address outputToken_, address treasury_) {
        _initializeOwner(owner);
        outputToken = outputToken_;
        treasury = treasury_;
        _unit = 10 ** MetadataReaderLib.readDecimals(outputToken_);
    }

    function setPrice(address inputToken, uint256 price_) external onlyOwner {
        price[inputToken] = price_;
        emit PriceSet(inputToken, price_);
    }

    function setState(State state_) external onlyOwner {
        if (state == State.Closed) revert NotActive();
        state = state_;
        emit StateChanged(state_);
    }

    /// @notice Sends unsold supply to the treasury.
    function withdraw(uint256 amount) external onlyOwner {
        outputToken.safeTransfer(treasury, amount);
    }

    /// @notice The remaining supply.
    function supply() public view returns (uint256) {
        return outputToken.balanceOf(address(this));
    }

    function quote(address inputToken, uint256 amount) public view virtual returns (uint256 input, uint256 output) {
        uint256 price_ = price[inputToken];
        if (price_ == 0) revert TokenNotTaken(inputToken);
        uint256 left = supply();
        // If `amount` is below the cost of the whole supply, the output is less than the supply and cannot
        // overflow.
        uint256 all = left.fullMulDivUp(price_, _unit);
        if (amount >= all) return (all, left);
        return (amount, amount.fullMulDiv(_unit, price_));
    }

    function buy(address inputToken, uint256 input) external onlyRoles(BUY) nonReentrant returns (uint256 output) {
        if (state != State.Active) revert NotActive();
        uint256 taken;
        (taken, output) = quote(inputToken, input);
        if (taken != input) revert SupplyShort();
        emit Bought(msg.sender, inputToken, input, output);
        inputToken.safeTransferFrom(msg.sender, treasury, input);
        outputToken.safeTransfer(msg.sender, output);
    }
}
