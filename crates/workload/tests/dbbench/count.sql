select count(*) from parcel;
